package inflation_test

import (
	"math"
	"math/rand/v2"

	"loadline.dev/loadline/pkg/model/inflation"
)

// simulation is a service whose truth is known.
type simulation struct {
	slots, pods int
	// overhead is in CPU seconds a second, perUnit in CPU seconds.
	overhead, perUnit float64
	// rate returns how many units a second a pod does in a slot, and neighbours how many processors each neighbour uses beside a pod.
	rate       func(slot int) float64
	neighbours []func(slot, pod int) float64
	// effects are by how much each processor of a neighbour inflates.
	effects []float64
	// slower returns how many times as long all pods of the node take for the same work, for a reason that is none of them; nil is 1.
	slower func(slot int) float64
	// late is the standard deviation of the relative error with which units are counted in the slot in which they are done.
	late float64
	// noise is the standard deviation of relative errors, and alike the correlation of those of successive slots.
	noise, alike float64
}

// series draws a series, and returns the true inflation in the last slots, too.
func (s *simulation) series(random *rand.Rand) ([]inflation.Interval, float64) {
	var series []inflation.Interval
	used, expected := 0.0, 0.0
	errors := make([]float64, s.pods)
	for k := range errors {
		errors[k] = random.NormFloat64()
	}
	for t := range s.slots {
		for k := range s.pods {
			errors[k] = s.alike*errors[k] + math.Sqrt(1-s.alike*s.alike)*random.NormFloat64()
			rate := s.rate(t) * (1 + 0.05*random.NormFloat64())
			quiet := s.overhead + s.perUnit*rate
			slower, machine := 1.0, 1.0
			if s.slower != nil {
				machine = s.slower(t)
			}
			v := inflation.Interval{Slot: int64(t), Pod: k, Seconds: 60, Units: 60 * rate}
			for j, n := range s.neighbours {
				cpus := max(0, n(t, k)*machine*(1+0.05*random.NormFloat64()))
				v.Neighbours = append(v.Neighbours, cpus)
				slower += s.effects[j] * cpus
			}
			slower *= machine
			v.CPU = 60 * quiet * slower * max(0, 1+s.noise*errors[k])
			if s.late > 0 {
				v.Units *= max(0, 1+s.late*random.NormFloat64())
			}
			series = append(series, v)
			if t >= s.slots-inflation.Recent {
				used, expected = used+quiet*slower, expected+quiet
			}
		}
	}
	return series, used / expected
}

// plain is a service of two pods beside no neighbour.
func plain() *simulation {
	return &simulation{
		slots: 120, pods: 2, overhead: 0.05, perUnit: 0.004, noise: 0.03, alike: 0.5,
		rate: func(t int) float64 { return 100 + 40*math.Sin(float64(t)/15) },
	}
}

// steady returns a neighbour that always uses some processors.
func steady(cpus float64) func(int, int) float64 { return func(int, int) float64 { return cpus } }

// onOff returns a neighbour that is there for some slots, and then away for as many.
func onOff(cpus float64, length, shift int) func(int, int) float64 {
	return func(t, _ int) float64 {
		if (t+shift)/length%2 == 1 {
			return cpus
		}
		return 0
	}
}

// telegraph returns a neighbour that comes and goes at random, every length slots on average.
func telegraph(random *rand.Rand, cpus float64, slots int, length float64) func(int, int) float64 {
	there := make([]bool, slots)
	is := random.IntN(2) == 0
	for t := range there {
		if random.Float64() < 1/length {
			is = !is
		}
		there[t] = is
	}
	return func(t, _ int) float64 {
		if there[t] {
			return cpus
		}
		return 0
	}
}

func seeded(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 45)) }

// named returns the groups that are named.
func named(e *inflation.Estimate) (groups [][]int) {
	for i := range e.Effects {
		if e.Effects[i].Named {
			groups = append(groups, e.Effects[i].Neighbours)
		}
	}
	return groups
}
