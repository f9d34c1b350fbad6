package throttling_test

import (
	"math/rand/v2"

	"loadline.dev/loadline/pkg/model/throttling"
)

// bursts are how threads compute and sleep in a simulation.
type bursts int

const (
	exponential bursts = iota
	constant           // each thread begins at a random time
	together           // all threads compute at the same times, exponential
)

// thread is one of a simulation. Times are in seconds.
type thread struct {
	computes bool
	left     float64 // of its burst, or of its sleep
}

// simulate returns how many times longer threads take with a quota of limit processors in each period than without, each on a
// processor of its own.
func simulate(l throttling.Load, limit float64, how bursts, seconds float64, r *rand.Rand) float64 {
	sleep := l.Burst * (1 - l.Loading) / l.Loading
	draw := func(mean float64) float64 {
		if how == constant {
			return mean
		}
		return mean * r.ExpFloat64()
	}
	threads := make([]thread, max(1, l.Threads))
	if how == together {
		limit /= float64(len(threads)) // of the quota, all take the same
		threads = threads[:1]
	}
	for i := range threads {
		threads[i] = thread{left: (sleep + l.Burst) * r.Float64()}
	}
	left, own := limit*throttling.Period, 0.0 // own is what the threads did, sleep included
	next := throttling.Period                 // when the quota is renewed
	for now := 0.0; now < seconds; {
		running := 0
		for i := range threads {
			if threads[i].computes {
				running++
			}
		}
		step := next - now
		if running > 0 && left > 0 {
			step = min(step, left/float64(running))
		}
		for i := range threads {
			if !threads[i].computes || left > 0 {
				step = min(step, threads[i].left)
			}
		}
		now += step
		spent := left <= 0
		for i := range threads {
			t := &threads[i]
			if t.computes && spent {
				continue
			}
			own += step
			if t.left -= step; t.left <= 1e-12 {
				if t.computes = !t.computes; t.computes {
					t.left = draw(l.Burst)
				} else {
					t.left = draw(sleep)
				}
			}
		}
		if left -= step * float64(running); spent || left < 1e-12 {
			left = 0
		}
		if now >= next-1e-12 {
			left, next = limit*throttling.Period, next+throttling.Period
		}
	}
	return float64(len(threads)) * seconds / own
}
