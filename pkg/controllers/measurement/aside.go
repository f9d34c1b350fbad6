package measurement

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
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

// visits are those of a probe to a resource that it waits for.
type visits struct {
	// computing is the fraction of its time that each worker computes alone, nil of a probe
	// that waits for nothing, and of a sample that is corrected already.
	computing *resource.Quantity
	// reach is the fraction of the rest in which the resource serves it. It does not
	// while a request or the answer is on the way.
	reach   float64
	workers int
}

// reachOf returns [visits.reach] of the probe of a resource: that with which two of them
// slow each other down, 1 + reach², as a round before the given one found out. It is 1
// where that is not known.
func reachOf(r *probed, samples []v1alpha1.MeasurementSample, before int32) float64 {
	d, ok := selfDilation(r, samples, before)
	if !ok {
		return 1
	}
	return math.Sqrt(min(1, max(probing.MinSelfDilation, d)-1))
}

// atResource returns the ratios of the times of a probe and of a target, with the other
// to without, that they would have if the probe spent all its time at its resource. It
// takes what they wait for each other at the CPU out, if it is known what the target does
// there, and scales what remains: a probe that is at its resource a fraction of its time
// gets and stands in the way as often. A target's ratio of 0 is unknown, and stays so.
func (a *aside) atResource(probe, target float64, v visits) (float64, float64, error) {
	if v.computing == nil {
		return probe, target, nil
	}
	there, meet := v.reach, []float64{1, 1}
	if a != nil {
		share := min(mostComputing, v.computing.AsApproximateFloat64())
		there *= 1 - share
		var err error
		if meet, err = a.beside(share, v.workers); err != nil {
			return 0, 0, err
		}
	}
	probe = 1 + (probe-meet[0])/there
	if target > 0 {
		target = 1 + (target-meet[1])/there
	}
	return probe, target, nil
}

// beside returns how many times longer the workers of a probe and the target take beside
// each other than alone for what both of them do at the CPU.
func (a *aside) beside(share float64, workers int) ([]float64, error) {
	worker := contention.Vector{{Loading: share, Pressure: share, Threads: workers}}
	job := contention.Vector{a.target}
	return dilations([]contention.Vector{worker, job}, []int{a.cores})
}

// newAside returns what a target does at the CPU, by what was measured there, which
// noise may have taken beyond the possible.
func newAside(found probing.Resource, threads, cores int) *aside {
	possible := func(x float64) float64 { return min(1, max(0, x)) }
	return &aside{contention.Demand{
		Loading: possible(found.Loading.Value), Pressure: possible(found.Pressure.Value), Threads: threads,
	}, cores}
}
