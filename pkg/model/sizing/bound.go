package sizing

import (
	"math"

	"loadline.dev/loadline/pkg/model/queueing"
)

// lowerBound returns a lower bound on the cost of every partition of valid classes.
//
// Every pool serves its load, at a cost per server of at least that of each of its classes; and the
// pool of a class has at least the number of servers that the class would need alone. (That does
// not hold where late jobs may be given up.) Where all are served in order of arrival at one rate
// there is a better bound: the pool of a class has servers to spare, m − ρ, and the larger the
// pool, the more. They are fewest in the smallest pool that can serve the class, filled up with
// others as far as the SLA of the class allows.
func lowerBound(classes []Class, o Options) float64 {
	load, count, least, spare, alone := 0.0, 0.0, math.Inf(1), 0.0, 0.0
	fifo := o.Discipline == FCFS && uniform(classes)
	for _, c := range classes {
		load += c.load() * c.cost()
		count += c.load()
		least = min(least, c.cost())
		if o.Discipline == LateLast {
			continue
		}
		var pool Pool
		if err := pool.analyze([]Class{c}, 1, Options{MaxServers: o.MaxServers, Work: o.Work}); err != nil {
			continue // no bound from this class
		}
		alone = max(alone, c.cost()*float64(pool.Servers))
		if fifo && o.Work.spend(capacityTries*trying([]Class{c}, FCFS)) == nil {
			spare = max(spare, c.cost()*(float64(pool.Servers)-capacity(c.Service, pool.Servers, c.SLA)))
		}
	}
	bound := max(alone, least*(math.Floor(count)+1))
	bound = max(bound, load+spare)
	if unit := commonCost(classes); unit > 0 {
		return unit * math.Ceil(bound/unit-1e-6)
	}
	return bound
}

// commonCost returns the cost of a server, 0 if it differs between classes.
func commonCost(classes []Class) float64 {
	for _, c := range classes {
		if c.cost() != classes[0].cost() {
			return 0
		}
	}
	return classes[0].cost()
}

// capacityTries is how many loads capacity tries, at most.
const capacityTries = 100

// capacity returns the largest load with which an M/M/m queue meets a feasible SLA.
func capacity(service float64, servers int, sla SLA) float64 {
	return largest(0, float64(servers), func(load float64) float64 {
		q, err := queueing.NewMMm(load*service, service, servers)
		if err != nil {
			return -1 // it cannot keep up
		}
		return q.ResponseWithin(sla.Within) - sla.Probability
	})
}

// largest returns the largest value between low and high with a margin of at least 0, to twelve
// digits, if all smaller ones have that too; low if none has. It takes the false position between
// the ends, halving the margin of an end that stays (the Illinois algorithm), and every fourth time
// the middle.
func largest(low, high float64, margin func(x float64) float64) float64 {
	const digits = 1e-12
	atHigh := margin(high)
	if atHigh >= 0 {
		return high
	}
	atLow := margin(low)
	if atLow < 0 {
		return low
	}
	for n, side := 1, 0; high-low > digits*high; n++ {
		x := low + (high-low)/2
		if guess := low + (high-low)*atLow/(atLow-atHigh); n%4 != 0 && guess > low && guess < high {
			x = guess
		}
		at := margin(x)
		if at >= 0 {
			low, atLow = x, at
			if side == 1 {
				atHigh /= 2
			}
			side = 1
		} else {
			high, atHigh = x, at
			if side == -1 {
				atLow /= 2
			}
			side = -1
		}
	}
	return low
}
