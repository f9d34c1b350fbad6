package throttling

import "math"

// Quota is what the kernel lets a control group use.
type Quota struct {
	// Limit is the processor time of each [Period], in processors, above 0.
	Limit float64
	// Burst is how much of what earlier periods left over the group may use besides, in seconds, at least 0: cpu.max.burst, or
	// cpu.cfs_burst_us.
	Burst float64
}

// Pattern is how some threads compute and sleep in turns while nothing holds them back.
type Pattern struct {
	// Load has their number, what they compute, and for how long at a time.
	Load

	// Together reports whether all of them compute at the same times, as the parts of a parallel computation do. Otherwise each
	// does so at times of its own.
	Together bool
	// Processors is how many of them compute at the same time at most, those of the node; 0 means all.
	Processors int
	// BurstVariation and SleepVariation are the coefficients of variation of bursts and of the sleeps between them, their standard
	// deviations over their means: from 0, all alike, to 1, as those of an exponential distribution.
	BurstVariation, SleepVariation float64
}

// Throttled is what a quota does to threads.
type Throttled struct {
	// Time is for how long it stops them, summed over the threads, and Periods in how many periods it stops any: both for each second
	// that a thread runs.
	Time, Periods float64
}

// Under returns what a quota does to the threads, by a simulation of bounded cost. Its random numbers are the same each time, so that
// results for several quotas can be compared.
func (p Pattern) Under(q Quota) Throttled {
	if p.Loading <= 0 || q.Limit >= p.most() {
		return Throttled{}
	}
	s := p.simulation(q)
	for !s.enough() {
		s.next()
	}
	if s.run <= 0 {
		return Throttled{}
	}
	return Throttled{Time: s.stopped / s.run, Periods: s.periods / (s.run * Period)}
}

// most returns the limit from which on a quota stops nothing.
func (p Pattern) most() float64 {
	if p.Processors > 0 {
		return min(p.threads(), float64(p.Processors))
	}
	return p.threads()
}

// LimitFor returns about the smallest limit, in processors, that stops the threads for no more than some time, above 0, for each second
// that a thread runs, where they may use some seconds of what earlier periods left over. A processor for each thread is always enough, and
// so are all that there are.
func (p Pattern) LimitFor(time, burst float64) float64 {
	low, high := max(p.uses(), leastLoading), p.most()
	if p.Loading <= 0 || low >= high {
		return high
	}
	for range patternSteps {
		limit := math.Sqrt(low * high)
		if p.Under(Quota{limit, burst}).Time > time {
			low = limit
		} else {
			high = limit
		}
	}
	return high
}

// patternSteps is how often a bisection by simulations halves the range of the logarithm of its unknown: to about 1 %.
const patternSteps = 8
