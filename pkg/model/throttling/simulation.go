package throttling

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// What a simulation consists of, so that its cost is bounded whatever the pattern is.
const (
	// simulatedBursts is how many bursts are simulated at least, and simulatedPeriods for how many periods, unless that takes more events.
	simulatedBursts  = 3000
	simulatedPeriods = 1000
	simulatedEvents  = 30_000
	// simulatedThreads is how many threads are simulated at most: of more, each stands for several that compute together.
	simulatedThreads = 8
	// The bursts that are simulated, in periods. Many shorter ones use about the same in each period, and a longer one takes the whole of
	// most periods that it meets.
	minSimulated, maxSimulated = 1.0 / 100, 5
	// leastLoading is that of threads that hardly ever compute, and leastVariation how much bursts and sleeps vary at least: threads
	// that do not would keep the times at which they happen to begin.
	leastLoading, leastVariation = 1e-6, 0.1
)

// instant is the rounding error of times, in periods.
const instant = 1e-12

// simulation is one of threads under a quota. Its times are in periods.
type simulation struct {
	random     *rand.Rand
	threads    []simulated
	each       float64 // threads that one of those stands for
	processors float64 // infinite where each has one

	bursts, sleeps distuv.Rander

	quota float64 // of a period
	most  float64 // that can be left, with what earlier periods left over
	left  float64
	ends  float64 // until the period does
	spent bool    // the quota has stopped a thread in this period

	// What happened: run and stopped are summed over threads, and periods are those in which any was stopped.
	run, stopped, periods float64
	now                   float64
	ended, events         int // ended bursts
}

// simulated is a thread that is simulated.
type simulated struct {
	computes bool
	left     float64 // of its burst or of its sleep
}

// simulation returns a simulation of threads under a quota, each at some time in its turns.
func (p Pattern) simulation(q Quota) *simulation {
	number := min(max(1, p.Threads), simulatedThreads)
	if p.Together {
		number = 1
	}
	s := &simulation{
		random:  rand.New(rand.NewPCG(1, 1)), // the same each time
		threads: make([]simulated, number), each: p.threads() / float64(number), processors: math.Inf(1),
		quota: q.Limit, most: q.Limit + q.Burst/Period, ends: 1,
	}
	if p.Processors > 0 {
		s.processors = float64(p.Processors)
	}
	loading := min(max(leastLoading, p.Loading), 1)
	burst := min(max(p.Burst/Period, minSimulated), maxSimulated)
	s.bursts, s.sleeps = s.lengths(burst, p.BurstVariation), s.lengths(burst*(1-loading)/loading, p.SleepVariation)
	s.left = s.most
	for i := range s.threads {
		t := &s.threads[i]
		t.computes = s.random.Float64() < loading
		s.begin(t)
		t.left *= s.random.Float64()
	}
	return s
}

// lengths returns the distribution of bursts or sleeps of a mean: a gamma distribution, which is exponential at a variation of 1.
func (s *simulation) lengths(mean, variation float64) distuv.Rander {
	variation = min(max(leastVariation, variation), 1)
	switch shape := 1 / (variation * variation); {
	case mean <= 0:
		return always(0)
	case variation == 1:
		return distuv.Exponential{Rate: 1 / mean, Src: s.random}
	default:
		return distuv.Gamma{Alpha: shape, Beta: shape / mean, Src: s.random}
	}
}

// always is the distribution of a constant.
type always float64

func (a always) Rand() float64 { return float64(a) }

// begin draws for how long a thread computes or sleeps.
func (s *simulation) begin(t *simulated) {
	if t.computes {
		t.left = s.bursts.Rand()
	} else {
		t.left = s.sleeps.Rand()
	}
}

// enough reports whether enough was simulated.
func (s *simulation) enough() bool {
	return s.ended >= simulatedBursts && s.now >= simulatedPeriods || s.events >= simulatedEvents
}

// next goes on to the next event: the end of a burst, of a sleep, of the quota or of the period.
func (s *simulation) next() {
	s.events++
	computing := 0.0
	for i := range s.threads {
		if s.threads[i].computes {
			computing += s.each
		}
	}
	speed := min(1, s.processors/computing) // of each that computes; infinite processors where none does
	if s.left <= instant {
		speed = 0
	}
	step := s.until(computing, speed)
	if speed == 0 {
		s.stopped += step * computing
		s.spent = s.spent || computing > 0
	}
	s.run += step * computing * speed
	s.left = max(0, s.left-step*computing*speed)
	for i := range s.threads {
		t := &s.threads[i]
		if t.computes {
			t.left -= step * speed
		} else {
			t.left -= step
		}
		if t.left > instant || t.computes && speed == 0 {
			continue
		}
		if t.computes {
			s.ended++
		}
		t.computes = !t.computes
		s.begin(t)
	}
	s.pass(step)
}

// until returns how long it is until the next event, of threads that compute at a speed. Periods do not matter while none does.
func (s *simulation) until(computing, speed float64) float64 {
	step := math.Inf(1)
	if computing > 0 {
		step = s.ends
	}
	if computing > 0 && speed > 0 {
		step = min(step, s.left/(computing*speed))
	}
	for i := range s.threads {
		switch t := &s.threads[i]; {
		case !t.computes:
			step = min(step, t.left)
		case speed > 0:
			step = min(step, t.left/speed)
		}
	}
	return step
}

// pass lets time pass, and renews the quota at the ends of periods.
func (s *simulation) pass(step float64) {
	s.now += step
	if s.ends -= step; s.ends > instant {
		return
	}
	if s.spent {
		s.periods, s.spent = s.periods+1, false
	}
	ended := math.Floor(-s.ends) + 1 // several while all sleep
	s.ends += ended
	s.left = min(s.left+ended*s.quota, s.most)
}
