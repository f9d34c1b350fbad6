package experiment

import (
	"math"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/probing"
)

// maxComputing is how much of its time a probe of another resource than the CPU may
// compute. One that computes more says little about the other resource.
const maxComputing = 0.5

// cpuUse is a target's demand at the CPU. Probes of other resources meet it there, too: they
// compute between two requests.
type cpuUse struct {
	target loading.Demand
	cores  int
}

// newCPUUse returns the use of the CPU that was measured, without what noise has added
// beyond the possible.
func newCPUUse(found probing.Resource, r Resource) *cpuUse {
	return &cpuUse{loading.Demand{Loading: fraction(found.Loading.Value), Pressure: fraction(found.Pressure.Value), Threads: r.Threads}, r.Servers}
}

// fraction returns the nearest number from 0 to 1.
func fraction(x float64) float64 { return min(1, max(0, x)) }

// cycle is the work of a probe's worker from one request to the next, without a target.
type cycle struct {
	// computing is the fraction of its time at the CPU, as [Sample.ProbeComputing].
	computing *float64
	// served is the fraction of the rest in which the resource serves its request, rather
	// than the request or the answer being on the way.
	served float64
	// workers is how many there are.
	workers int
}

// servedFraction returns [cycle.served] of the probe of a resource: that with which two
// probes dilate each other by 1 + served², as one of the first rounds measured it; 1 where
// none did.
func servedFraction(samples []Sample, resource string, rounds int) float64 {
	d, ok := SelfDilation(samples, resource, rounds)
	if !ok {
		return 1
	}
	return math.Sqrt(min(1, max(probing.MinSelfDilation, d)-1))
}

// atResource returns the dilations that a probe and a target would have if the probe spent all its
// time at its resource. Their waits for each other at the CPU are subtracted, if the target's
// demand there is known (c is not nil), and the rest is scaled: a probe that is at its resource a
// fraction of its time waits, and makes others wait, that fraction of the time.
func (c *cpuUse) atResource(d probing.Dilations, w cycle) (probing.Dilations, error) {
	if w.computing == nil {
		return d, nil
	}
	there, atCPU := w.served, []float64{1, 1}
	if c != nil {
		share := min(maxComputing, *w.computing)
		there *= 1 - share
		var err error
		if atCPU, err = c.beside(share, w.workers); err != nil {
			return probing.Dilations{}, err
		}
	}
	d.Probe = 1 + (d.Probe-atCPU[0])/there
	if d.Target > 0 {
		d.Target = 1 + (d.Target-atCPU[1])/there
	}
	return d, nil
}

// beside returns the dilations by each other, at the CPU, of the workers of a probe, each of which
// computes a share of its time, and of the target.
func (c *cpuUse) beside(share float64, workers int) ([]float64, error) {
	worker := loading.Vector{{Loading: share, Pressure: share, Threads: workers}}
	return dilations([]loading.Vector{worker, {c.target}}, []int{c.cores})
}
