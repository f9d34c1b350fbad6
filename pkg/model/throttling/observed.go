package throttling

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is what was seen of threads under a quota for some time. Times are in seconds.
type Interval struct {
	Seconds float64
	// Run and Throttled are for how long the threads ran and were stopped, summed over them.
	Run, Throttled float64
	// Threads is how many of them were active alike, Loading the fraction of its time without waiting that each ran, and Burst for how
	// long it ran at a time. Each is 0 where it is unknown.
	Threads, Loading, Burst float64
	// ThrottledPeriods is in how many periods the quota was spent; 0 where that is unknown.
	ThrottledPeriods float64
}

// maxThreads is more than any container has: a node may lie.
const maxThreads = 1 << 20

// Observed returns the pattern that explains what was seen under a quota, of threads that may use some number of processors: as
// many as were seen, bursts as long as were seen, which vary as much as the intervals let expect. Where the quota stopped them for longer than
// that explains, they compute together, or for longer at a time.
func Observed(seen []Interval, under Quota, processors int) Pattern {
	s := summed(seen)
	p := Pattern{Processors: processors, BurstVariation: s.burstVariation(seen), SleepVariation: s.sleepVariation(seen)}
	// Fewer threads than exceed the limit are not stopped by it.
	p.Threads = int(min(max(math.Round(s.threads()), math.Floor(under.Limit)+1), maxThreads))
	p.Loading, p.Burst = s.loading(), s.burst()
	return p.explaining(s, under)
}

// explaining returns a pattern that is stopped for no less than was seen.
func (p Pattern) explaining(s sums, under Quota) Pattern {
	if s.run <= 0 || s.throttled <= 0 {
		return p
	}
	seen := Throttled{Time: s.throttled / s.run, Periods: s.throttledPeriods / s.run}
	if p.explains(seen, under, s.throttledPeriods) {
		return p
	}
	if p.Threads > 1 {
		together := p
		together.Together = true
		if together.stopsLike(seen, under, p) {
			p = together
		}
	}
	if p.explains(seen, Quota{granted * under.Limit, under.Burst}, s.throttledPeriods) {
		return p
	}
	return p.lengthened(seen.Time*tolerated, under)
}

const (
	// tolerated is how many times what a pattern explains may be seen, and toleratedRegular that of threads that compute at regular times:
	// then it is chance where in a period that is.
	tolerated, toleratedRegular = 1.1, 4
	// regular is the variation below which times are regular.
	regular = 0.5
	// granted is the part of its quota that a group which spends it gets at least: the kernel hands it out in slices, of which
	// processors keep some that nothing runs on.
	granted = 0.9
)

// explains reports whether the threads, of known bursts, are stopped for about as long as was seen, or longer. What was seen in few periods
// is a small sample.
func (p Pattern) explains(seen Throttled, under Quota, periods float64) bool {
	times := tolerated
	if max(p.BurstVariation, p.SleepVariation) < regular {
		times = toleratedRegular
	}
	if periods > 0 {
		times += 2 / math.Sqrt(periods)
	}
	return p.Burst > 0 && p.Under(under).Time*times >= seen.Time
}

// lengthened returns the pattern with bursts that are so much longer that the threads are stopped for some time for each second that one runs.
func (p Pattern) lengthened(time float64, under Quota) Pattern {
	low, high := max(p.Burst, minSimulated*Period), maxSimulated*Period
	for range patternSteps {
		p.Burst = math.Sqrt(low * high)
		if p.Under(under).Time < time {
			low = p.Burst
		} else {
			high = p.Burst
		}
	}
	p.Burst = high
	return p
}

// stopsLike reports whether a quota stops the threads of this pattern for about as long in a period as was seen, rather than those of
// another one. It is so where the number of periods is unknown.
func (p Pattern) stopsLike(seen Throttled, under Quota, other Pattern) bool {
	if seen.Periods <= 0 {
		return true
	}
	off := func(p Pattern) float64 {
		t := p.Under(under)
		return math.Abs(math.Log(t.Time / t.Periods * seen.Periods / seen.Time))
	}
	mine, others := off(p), off(other)
	return !(others <= mine)
}

// sums are those over intervals.
type sums struct {
	seconds, run, throttled, throttledPeriods float64
	// rated is how long threads ran of which it is known what they are like, own the time without waiting of these, and alike their
	// number times what they ran.
	rated, own, alike float64
	// bursts is how often those of known bursts ran, and bursting for how long, in burstSeconds of the intervals.
	bursts, bursting, burstSeconds float64
}

// bursts returns how often the threads ran, 0 where that is unknown.
func (v *Interval) bursts() float64 {
	if n := v.Run / v.Burst; v.Burst > 0 && !math.IsInf(n, 0) {
		return n
	}
	return 0
}

func summed(seen []Interval) (s sums) {
	for _, v := range seen {
		s.seconds += v.Seconds
		s.run += v.Run
		s.throttled += v.Throttled
		s.throttledPeriods += v.ThrottledPeriods
		if own := v.Run / v.Loading; v.Loading > 0 && v.Threads > 0 && !math.IsInf(own, 0) {
			s.rated += v.Run
			s.own += own
			s.alike += v.Run * v.Threads
		}
		if bursts := v.bursts(); bursts > 0 {
			s.bursts += bursts
			s.bursting += v.Run
			s.burstSeconds += v.Seconds
		}
	}
	return s
}

func (s sums) threads() float64 {
	if s.rated <= 0 {
		return 1
	}
	return max(1, s.alike/s.rated)
}

func (s sums) loading() float64 {
	if s.own <= 0 {
		return 0
	}
	return min(1, s.rated/s.own)
}

func (s sums) burst() float64 {
	if s.bursts <= 0 {
		return 0
	}
	return s.bursting / s.bursts
}

// burstVariation returns how much bursts vary, by how much their mean does from interval to interval: a mean of n varies by 1/√n of
// that.
func (s sums) burstVariation(seen []Interval) float64 {
	mean, squares, intervals := s.burst(), 0.0, 0
	for _, v := range seen {
		if bursts := v.bursts(); bursts > 0 {
			squares += bursts * (v.Burst/mean - 1) * (v.Burst/mean - 1)
			intervals++
		}
	}
	return variation(squares, intervals)
}

// sleepVariation returns how much sleeps vary, by how much the number of bursts does from interval to interval: that of a renewal process
// has a variance of its mean times the square of how much the time between bursts varies, of which the sleep is a part.
func (s sums) sleepVariation(seen []Interval) float64 {
	squares, intervals := 0.0, 0
	for _, v := range seen {
		if bursts := v.bursts(); bursts > 0 {
			expected := s.bursts * v.Seconds / s.burstSeconds
			squares += (bursts - expected) * (bursts - expected) / expected
			intervals++
		}
	}
	asleep := s.own * (1 - s.loading()) / (s.threads() * s.seconds) // a part of the time
	if asleep <= 0 {
		return 1
	}
	return variation(squares/(asleep*asleep), intervals)
}

// variation returns a coefficient of variation from a sum of squared deviations in some intervals, each of which has the square of the
// coefficient for its mean: the largest that is not unlikely, and at most 1.
func variation(squares float64, intervals int) float64 {
	if intervals < 2 || !(squares >= 0) {
		return 1
	}
	const unlikely = 0.05
	least := distuv.ChiSquared{K: float64(intervals - 1)}.Quantile(unlikely)
	return math.Sqrt(min(1, squares/least))
}
