package probing

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Among is a probe, with one worker for each server of its resource, and its target on a node where
// other jobs run, or where the target has several threads, so that the formulas for one pair do not
// hold. The dilations of all are predicted as by [contention.Predict], with the sought value
// unknown, and the prediction is inverted.
//
// The neighbours must be the same while the probe runs alone and beside the target.
type Among struct {
	// Servers holds the number of servers of each resource of the node; they must
	// satisfy [contention.ValidateServers].
	Servers []int
	// Neighbours are the loading vectors of the other jobs on the node.
	Neighbours []loading.Vector
	// Resource is the index of the probe's resource.
	Resource int
	// Target holds the known parts of the target: its threads at the probe's resource, and its
	// demands at others. Its loading and pressure at the probe's resource, which are to be found,
	// do not matter.
	Target loading.Vector
}

// Pressure returns how much a thread of the target stands in others' way at the
// probe's resource, from the ratio of the probe's rate beside the neighbours alone to
// its rate beside them and the target. The target is taken to be symmetric, its
// loading equal to its pressure.
//
// The result is not clamped: for a ratio that noise takes beyond those of pressures from 0 to 1 it
// extrapolates linearly. If that is more than noise the error wraps [ErrUnexplained]. It wraps
// [ErrAmbiguous] where the ratio hardly depends on the pressure: many threads fill the resource at
// any pressure, or the loadings at other resources leave no room. Other errors name the invalid
// value.
func (a Among) Pressure(ratio float64) (float64, error) {
	c, err := a.pressures()
	if err != nil {
		return 0, err
	}
	return c.explain("ratio of the probe's rates", ratio)
}

// Sensitivity returns the loading of the target at the probe's resource, from the
// ratio of its time beside the neighbours and the probe to its time beside the
// neighbours alone, as [Among.Pressure] does.
//
// Where the target has more threads than the resource has servers left, a higher loading can lead
// to a lower ratio: if so the error wraps [ErrAmbiguous], and only the pressure can be determined.
func (a Among) Sensitivity(ratio float64) (float64, error) {
	c, err := a.sensitivities()
	if err != nil {
		return 0, err
	}
	return c.explain("ratio of the target's times", ratio)
}

// explain returns the loading that leads to a dilation, give or take noise.
func (c *curve) explain(what string, dilation float64) (float64, error) {
	if rule := dilationRule(dilation); rule != "" {
		return 0, fmt.Errorf("%s: %v %s", what, dilation, rule)
	}
	lowest, highest := c.dilations[0]*MinDilation, c.highest()/MinDilation
	if dilation < lowest || dilation > highest {
		return 0, fmt.Errorf("%s: %.4g is not between %.4g and %.4g, which loadings from 0 to %.3g lead to, with noise: %w",
			what, dilation, lowest, highest, c.loadings[len(c.loadings)-1], ErrUnexplained)
	}
	if !c.tells(dilation) {
		return 0, fmt.Errorf("%s: %.4g hardly depends on the loading: %w", what, dilation, ErrAmbiguous)
	}
	return c.loading(dilation)
}

func (a Among) validate() error {
	if err := loading.ValidateServers(a.Servers); err != nil {
		return err
	}
	if a.Resource < 0 || a.Resource >= len(a.Servers) {
		return fmt.Errorf("resource: %d is not between 0 and %d", a.Resource, len(a.Servers)-1)
	}
	if len(a.Target) > len(a.Servers) {
		return fmt.Errorf("target: %d demands for %d resources", len(a.Target), len(a.Servers))
	}
	if err := a.target(0).Validate(); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}

// pressures returns the curve of the probe's dilation, relative to that without the
// target.
func (a Among) pressures() (*curve, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	if slope := a.slope(); slope > 0 {
		return straight(slope), nil
	}
	without, err := contention.Predict(append([]loading.Vector{a.probe()}, a.Neighbours...), a.Servers, queueing.Options{})
	if err != nil {
		return nil, err
	}
	return newCurve(a.room(), func(loading float64) (float64, error) {
		with, _, err := a.predict(loading, true)
		return with / without.Dilations[0], err
	})
}

// sensitivities returns the curve of the target's dilation, relative to that without
// the probe.
func (a Among) sensitivities() (*curve, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	if slope := a.slope(); slope > 0 {
		return straight(slope), nil
	}
	return newCurve(a.room(), func(loading float64) (float64, error) {
		_, with, err := a.predict(loading, true)
		if err != nil {
			return 0, err
		}
		_, without, err := a.predict(loading, false)
		return with / without, err
	})
}

// slope returns 1/c if the formulas for one pair hold exactly, else 0.
func (a Among) slope() float64 {
	servers := a.Servers[a.Resource]
	threaded := slices.ContainsFunc(a.Target, func(d loading.Demand) bool { return d.Threads > 1 })
	if threaded || len(a.Neighbours) > 0 {
		return 0
	}
	return 1 / float64(servers)
}

func (a Among) probe() loading.Vector {
	v := make(loading.Vector, a.Resource+1)
	v[a.Resource] = loading.Demand{Loading: 1, Pressure: 1, Threads: a.Servers[a.Resource]}
	return v
}

// target returns the target's vector with a loading at the probe's resource.
func (a Among) target(fraction float64) loading.Vector {
	v := make(loading.Vector, max(len(a.Target), a.Resource+1))
	copy(v, a.Target)
	v[a.Resource].Loading, v[a.Resource].Pressure = fraction, fraction
	return v
}

// room returns the largest loading that the target can have at the probe's resource.
func (a Among) room() float64 {
	room := 1.0
	for _, d := range a.target(0) {
		room -= d.Loading
	}
	return max(0, room)
}

// predict returns the dilations of the probe, where it is there, and of the target.
func (a Among) predict(fraction float64, probe bool) (probeDilation, targetDilation float64, err error) {
	jobs := append([]loading.Vector{a.target(fraction)}, a.Neighbours...)
	if probe {
		jobs = append(jobs, a.probe())
	}
	p, err := contention.Predict(jobs, a.Servers, queueing.Options{})
	if err != nil {
		return 0, 0, err
	}
	return p.Dilations[len(jobs)-1], p.Dilations[0], nil
}
