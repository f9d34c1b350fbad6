package throttling

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// Period is how long a quota lasts unless the kubelet is configured otherwise, in seconds.
const Period = 0.1

// Load is what some threads would do if nothing held them back.
type Load struct {
	// Threads is how many they are, at least 1; 0 means 1.
	Threads int
	// Loading is the fraction of its time that each of them computes, from 0 to 1.
	Loading float64
	// Burst is for how long a thread computes at a time, on average, in seconds, finite and at least 0. 0 stands for bursts that
	// are short beside the quota.
	Burst float64
}

func (l Load) threads() float64 { return float64(max(1, l.Threads)) }

// uses returns how many processors the threads keep busy on average.
func (l Load) uses() float64 { return l.threads() * l.Loading }

// Average returns how many times longer a limit, in processors and above 0, makes the threads take if it holds on average only:
// at least 1. It is the [Load.Stretch] of bursts that are short beside the quota.
func (l Load) Average(limit float64) float64 { return max(1, l.uses()/limit) }

// Longest returns what [Load.Stretch] goes to the longer the bursts are. The quota is then a speed: threads that compute at the same
// time have limit processors together, while the others sleep (a closed network of one station, by its product form).
func (l Load) Longest(limit float64) float64 {
	n, p := l.threads(), l.Loading
	if limit >= n || p <= 0 || p >= 1 {
		return l.Average(limit)
	}
	const large = 1e100
	weight, sum, busy := 1.0, 1.0, 0.0
	for k := 1.0; k <= n; k++ {
		speed := min(k, limit)
		weight *= (n - k + 1) / speed * (p / (1 - p))
		if weight > large {
			weight, sum, busy = 1, sum/weight, busy/weight
		}
		sum += weight
		busy += weight * speed
	}
	return max(l.Average(limit), l.uses()*sum/busy)
}

// Stretch returns how many times longer the threads take with a quota of limit processors, above 0, in each [Period], than
// without it: at least 1, and 1 for a limit of a processor for each thread.
func (l Load) Stretch(limit float64) float64 {
	average := l.Average(limit)
	if limit >= l.threads() || l.Loading <= 0 || l.Loading >= 1 || l.Burst <= 0 {
		return average
	}
	one, part := thread{loading: l.Loading, burst: l.Burst / Period}, limit/l.threads()
	short, long := max(1, l.Loading/part), 1+l.Loading*(1/part-1)
	if !(long > short) {
		return average
	}
	nearness := (one.stretch(part) - short) / (long - short)
	return average + max(0, min(nearness, 1))*(l.Longest(limit)-average)
}

// Stopped returns for how long a quota of limit processors, above 0, in each [Period] stops the threads, in own times, if they
// compute at a mean speed, above 0 and at most 1, because of others, and are elsewhere for some own times in between. That is as
// on a processor of that speed, of which the quota is a larger part: those who wait use less of it.
func (l Load) Stopped(limit, speed, elsewhere float64) float64 {
	computes := l.Loading / speed
	cycle := elsewhere + computes
	slower := Load{Threads: l.Threads, Loading: min(1, computes/cycle), Burst: l.Burst / speed}
	return cycle * (slower.Stretch(limit/speed) - 1)
}

// thread is a load of one thread, between 0 and 1, with its burst in periods.
type thread struct{ loading, burst float64 }

// shortest is the shortest time for which what the thread does is like what it did before, in periods, of which a stretch is
// computed. With shorter times what it adds to that on average falls as their square root, as do deviations of sums.
const shortest = 1.0 / 200

// stretch returns how many times longer the thread takes with a quota of less than a period.
func (t thread) stretch(limit float64) float64 {
	memory := t.burst * (1 - t.loading)
	if memory >= shortest {
		return t.exact(limit)
	}
	t.burst = shortest / (1 - t.loading)
	average := max(1, t.loading/limit)
	return average + (t.exact(limit)-average)*math.Sqrt(memory/shortest)
}

// exact is stretch by integrals of probabilities, with times in periods.
func (t thread) exact(limit float64) float64 {
	asleep, awake := t.period(limit, false), t.period(limit, true)
	// In a period it does what takes used/loading without the quota, and is stopped for the rest. That is so for the mean over
	// how periods begin.
	passed := func(p period) float64 { return p.used/t.loading + p.stopped }
	begins := 1.0 // how probably it computes when a period begins
	if d := passed(awake) - passed(asleep); d != 0 {
		begins = max(0, min((1-passed(asleep))/d, 1))
	}
	used := asleep.used + begins*(awake.used-asleep.used)
	return max(1, t.loading/limit, t.loading/used)
}

// period is for how much of a period a thread computes, and for how much it is stopped, on average.
type period struct{ used, stopped float64 }

// nodes is the number of nodes of the quadratures: what is integrated is smooth.
const nodes = 32

// period returns what the thread does in a period that begins while it sleeps, or while it computes.
func (t thread) period(limit float64, awake bool) period {
	return period{
		used:    quad.Fixed(func(used float64) float64 { return t.exceeds(used, 1, awake) }, 0, limit, nodes, nil, 0),
		stopped: quad.Fixed(func(time float64) float64 { return t.exceeds(limit, time, awake) }, limit, 1, nodes, nil, 0),
	}
}

// exceeds returns the probability that the thread computes for longer than used until some time after a period began.
func (t thread) exceeds(used, time float64, awake bool) float64 {
	sleep := t.burst * (1 - t.loading) / t.loading
	wakes, ends := (time-used)/sleep, used/t.burst
	if awake {
		return ahead(wakes, ends, 0)
	}
	return ahead(wakes, ends, 1)
}

// ahead returns the probability that a Poisson variable of mean a exceeds one of mean b by at least a lead of 0 or 1.
func ahead(a, b float64, lead int) float64 {
	pa, pb := math.Exp(-a), math.Exp(-b)
	sum, below := 0.0, 0.0 // below is the probability that the other is at most k − lead
	if lead == 0 {
		below = pb
	}
	for k, rest := 0, 1.0; rest > negligible && k < maxTerms; k++ {
		if k > 0 {
			pa *= a / float64(k)
			if j := k - lead; j > 0 {
				pb *= b / float64(j)
			}
			below += pb
		}
		sum += pa * below
		rest -= pa
	}
	return min(sum, 1)
}

const (
	negligible = 1e-9
	maxTerms   = 500 // more than a Poisson variable of a mean of 1/shortest ever is
)
