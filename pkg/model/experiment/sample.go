package experiment

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/pkg/model/probing"
)

// Step is the name of a step of a round.
type Step string

// Alone is the step in which a copy of the target runs alone.
const Alone Step = "alone"

// CopiesOf returns the step in which n copies of the target run at once.
func CopiesOf(n int) Step { return Step(fmt.Sprintf("copies-%d", n)) }

// Beside returns the step in which the probe of a resource runs beside a copy of the
// target, or beside the pods of a service.
func Beside(resource string) Step { return Step("beside-" + resource) }

// Baseline returns the step in which the probe of a resource runs without the pods of a
// service.
func Baseline(resource string) Step { return Step("baseline-" + resource) }

// Sample is the result of one step of a round. Values that were not measured are 0.
type Sample struct {
	// Round is the number of the round, from 1.
	Round int
	// Step is the step of the round; no two samples of a round have the same.
	Step Step
	// TargetNanos is how long a run of the target took, in nanoseconds; of several copies
	// it is the mean.
	TargetNanos float64
	// TargetCPUNanos is how long the threads of the target ran, in nanoseconds, where
	// that is known of all of them.
	TargetCPUNanos float64
	// ProbeDilation is how many times slower the probe was beside the target.
	ProbeDilation float64
	// ProbeUnitsPerSecond is how fast the probe was, of one that ran without the target or
	// beside the pods of a service.
	ProbeUnitsPerSecond float64
	// ProbeComputing is the fraction of its time without the target that each worker of
	// the probe computes, from 0 to 1. It is nil for a probe that uses its resource by
	// computing, and for a sample from which it was taken out.
	ProbeComputing *float64
	// SelfDilation is how many times slower each of two probes was beside the other.
	SelfDilation float64
}

// Find returns the sample of a step of a round, the zero Sample if there is none.
func Find(samples []Sample, round int, step Step) Sample {
	if i := index(samples, round, step); i >= 0 {
		return samples[i]
	}
	return Sample{}
}

func index(samples []Sample, round int, step Step) int {
	return slices.IndexFunc(samples, func(s Sample) bool { return s.Round == round && s.Step == step })
}

// SelfDilation returns how many times slower each of two probes of a resource was beside
// the other; ok is false if none of the first rounds measured it.
func SelfDilation(samples []Sample, resource string, rounds int) (dilation float64, ok bool) {
	for _, s := range samples {
		if s.SelfDilation > 0 && s.Round <= rounds && (s.Step == Beside(resource) || s.Step == Baseline(resource)) {
			return s.SelfDilation, true
		}
	}
	return 0, false
}

// Unsaturated reports whether one of the first rounds found that the probe does not keep
// a resource busy.
func Unsaturated(samples []Sample, resource string, rounds int) bool {
	d, ok := SelfDilation(samples, resource, rounds)
	return ok && d < probing.MinSelfDilation
}
