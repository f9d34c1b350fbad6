package throttling_test

import (
	"math/rand/v2"

	"loadline.dev/loadline/pkg/model/throttling"
)

// bursts are how threads compute and sleep in a simulation.
type bursts int

const (
	exponential bursts = iota
	constant           // sleeps, too; each thread begins at a random time
	atRandom           // constant bursts after exponential sleeps
	together           // all threads compute at the same times, exponential
)

// quotaSimulation is a simulation of threads under a quota, each on a processor of its own. Times are in seconds.
type quotaSimulation struct {
	how          bursts
	burst, sleep float64 // means
	threads      []thread
	number       float64 // of threads: more than those where all compute together
	r            *rand.Rand

	quota, most, left float64
	now, next         float64 // next is when the quota is renewed
	spent             bool    // a thread was stopped since it was renewed

	own, run, stopped float64 // own is what the threads did, sleep included
	ended, periods    int
}

// thread is one of a simulation.
type thread struct {
	computes bool
	left     float64 // of its burst, or of its sleep
}

func newQuotaSimulation(l throttling.Load, q throttling.Quota, how bursts, r *rand.Rand) *quotaSimulation {
	s := &quotaSimulation{
		how: how, burst: l.Burst, sleep: l.Burst * (1 - l.Loading) / l.Loading, threads: make([]thread, max(1, l.Threads)), number: 1, r: r,
		quota: q.Limit * throttling.Period, most: q.Limit*throttling.Period + q.Burst, next: throttling.Period,
	}
	if how == together { // of the quota, all take the same
		s.number = float64(len(s.threads))
		s.quota, s.most, s.threads = s.quota/s.number, s.most/s.number, s.threads[:1]
	}
	s.left = s.most
	for i := range s.threads {
		s.threads[i] = thread{left: (s.sleep + s.burst) * r.Float64()}
	}
	return s
}

// begin draws for how long a thread computes or sleeps.
func (s *quotaSimulation) begin(t *thread) {
	mean, random := s.sleep, s.how != constant
	if t.computes {
		mean, random = s.burst, s.how == exponential || s.how == together
	}
	if t.left = mean; random {
		t.left *= s.r.ExpFloat64()
	}
}

// until simulates until a time.
func (s *quotaSimulation) until(end float64) {
	for s.now < end {
		running := 0
		for i := range s.threads {
			if s.threads[i].computes {
				running++
			}
		}
		spent := s.left <= 0
		step := s.next - s.now
		if running > 0 && !spent {
			step = min(step, s.left/float64(running))
		}
		for i := range s.threads {
			if !s.threads[i].computes || !spent {
				step = min(step, s.threads[i].left)
			}
		}
		s.pass(step, running, spent)
	}
}

func (s *quotaSimulation) pass(step float64, running int, spent bool) {
	s.now += step
	computed := step * float64(running)
	for i := range s.threads {
		t := &s.threads[i]
		if t.computes && spent {
			continue
		}
		s.own += step
		if t.left -= step; t.left <= 1e-12 {
			if t.computes {
				s.ended++
			}
			t.computes = !t.computes
			s.begin(t)
		}
	}
	if spent {
		s.stopped += computed
		s.spent = s.spent || running > 0
	} else {
		s.run += computed
		s.left -= computed
	}
	if s.left < 1e-12 {
		s.left = 0
	}
	if s.now >= s.next-1e-12 {
		if s.spent {
			s.periods++
		}
		s.left, s.next, s.spent = min(s.left+s.quota, s.most), s.next+throttling.Period, false
	}
}

// interval returns what is seen of some seconds.
func (s *quotaSimulation) interval(seconds float64) throttling.Interval {
	s.own, s.run, s.stopped, s.ended, s.periods = 0, 0, 0, 0, 0
	s.until(s.now + seconds)
	return throttling.Interval{
		Seconds: seconds, Run: s.number * s.run, Throttled: s.number * s.stopped, ThrottledPeriods: float64(s.periods),
		Threads: s.number * float64(len(s.threads)), Loading: s.burst / (s.burst + s.sleep), Burst: s.run / float64(max(1, s.ended)),
	}
}

// simulate returns how many times longer threads take with a quota of limit processors in each period than without.
func simulate(l throttling.Load, limit float64, how bursts, seconds float64, r *rand.Rand) float64 {
	s := newQuotaSimulation(l, throttling.Quota{Limit: limit}, how, r)
	s.until(seconds)
	return float64(len(s.threads)) * seconds / s.own
}

// stopped returns for how long a quota stops threads, in parts of the time that they run.
func stopped(l throttling.Load, q throttling.Quota, how bursts, seconds float64, r *rand.Rand) float64 {
	v := newQuotaSimulation(l, q, how, r).interval(seconds)
	return v.Throttled / v.Run
}
