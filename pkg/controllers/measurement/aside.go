package measurement

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/contention/probing"
)

// aside is what a target does at the CPU, where the probes of other resources meet it
// too: they compute a little, between two requests.
type aside struct {
	target contention.Demand
	cores  int
}

// mostComputing is how much of its time a probe of another resource may compute. One
// that computes more tells little of the other resource.
const mostComputing = 0.5

// atResource returns the ratios of the times of a probe and of a target, with the other
// to without, that they would have if the probe spent all its time at its resource. It
// takes what they wait for each other at the CPU out, and scales what remains: a probe
// that is there 1 − a of its time gets and stands in the way 1 − a as often. A target's
// ratio of 0 is unknown, and stays so. Without a probe that computes aside nothing
// changes, nor where nobody knows what the target does at the CPU.
func (a *aside) atResource(probe, target float64, computing *resource.Quantity, workers int) (float64, float64, error) {
	if a == nil || computing == nil {
		return probe, target, nil
	}
	share := min(mostComputing, computing.AsApproximateFloat64())
	worker := contention.Vector{{Loading: share, Pressure: share, Threads: workers}}
	job := contention.Vector{a.target}
	servers := []int{a.cores}
	both, err := dilations([]contention.Vector{worker, job}, servers)
	if err != nil {
		return 0, 0, err
	}
	for i, each := range []contention.Vector{worker, job} {
		alone, err := first([]contention.Vector{each}, servers)
		if err != nil {
			return 0, 0, err
		}
		both[i] /= alone
	}
	probe = 1 + (probe-both[0])/(1-share)
	if target > 0 {
		target = 1 + (target-both[1])/(1-share)
	}
	return probe, target, nil
}

// newAside returns what a target does at the CPU, by what was measured there, which
// noise may have taken beyond the possible.
func newAside(found probing.Resource, threads, cores int) *aside {
	possible := func(x float64) float64 { return min(1, max(0, x)) }
	return &aside{contention.Demand{
		Loading: possible(found.Loading.Value), Pressure: possible(found.Pressure.Value), Threads: threads,
	}, cores}
}
