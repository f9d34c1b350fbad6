package experiment

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/probing"
	"loadline.dev/loadline/pkg/model/queueing"
)

// toOwnTime converts the components, as measured, to fractions of the target's own time, as in
// loading vectors: see package contention. The two differ only where the target has more threads
// than a resource has servers, so that they wait for each other when the target is alone.
//
// Work is measured as a fraction of the time alone. A pressure or a sensitivity accounts
// for the threads that wait for each other at its own resource, and is a fraction of the
// time that the target would take if they waited nowhere else.
func (e Experiment) toOwnTime(components []Component) error {
	served, servers := make(loading.Vector, len(components)), make([]int, len(components))
	crowded := false
	for i, c := range components {
		r := e.Resources[c.Index]
		servers[i] = r.Servers
		served[i] = loading.Demand{Loading: c.Work.Value, Threads: r.Threads}
		if !c.Work.Taken() {
			served[i].Loading = c.Loading.Value
		}
		crowded = crowded || r.Threads > r.Servers
	}
	if !crowded {
		return nil
	}
	alone, err := contention.AloneServed(served, servers, queueing.Options{})
	if err != nil {
		return fmt.Errorf("the time of the target alone: %w", err)
	}
	for i := range components {
		c := &components[i]
		r := e.Resources[c.Index]
		here, err := contention.Alone(loading.Vector{{
			Loading: c.Pressure.Value, Pressure: c.Pressure.Value, Threads: r.Threads,
		}}, servers[i:i+1], queueing.Options{})
		if err != nil {
			return fmt.Errorf("%s: the time of the target alone: %w", r.Name, err)
		}
		pressure, loading := scaled(c.Pressure, alone/here), scaled(c.Loading, alone/here)
		if c.Loading == c.Work {
			if loading, err = workInOwnTime(c.Work, i, served, servers); err != nil {
				return err
			}
		}
		c.Loading, c.Pressure, c.Sensitivity = loading, pressure, scaled(c.Sensitivity, alone/here)
	}
	return nil
}

// scaled returns a fraction, times a factor.
func scaled(e probing.Estimate, by float64) probing.Estimate {
	return probing.Estimate{Value: min(1, e.Value*by), Error: e.Error * by, Samples: e.Samples}
}

// workInOwnTime returns the work at a resource as a fraction of the own time. The ends of
// its interval go through the same conversion.
func workInOwnTime(work probing.Estimate, at int, served loading.Vector, servers []int) (probing.Estimate, error) {
	own := func(work float64) (float64, error) {
		v := append(loading.Vector(nil), served...)
		v[at].Loading = fraction(work)
		alone, err := contention.AloneServed(v, servers, queueing.Options{})
		return min(1, alone*v[at].Loading), err
	}
	value, err := own(work.Value)
	if err != nil || work.Samples < 2 {
		return probing.Estimate{Value: value, Error: work.Error, Samples: work.Samples}, err
	}
	low, err := own(work.Value - work.Error)
	if err != nil {
		return probing.Estimate{}, err
	}
	high, err := own(work.Value + work.Error)
	return probing.Estimate{Value: value, Error: max(high-value, value-low), Samples: work.Samples}, err
}
