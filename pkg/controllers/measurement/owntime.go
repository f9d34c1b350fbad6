package measurement

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/contention/probing"
	"loadline.dev/loadline/pkg/model/queueing"
)

// convert makes fractions of the target's own time, as loading vectors have them, of
// what was measured: see package contention. It changes something only where the
// target has more threads than a resource has servers, so that they wait for each other
// when the target is alone.
//
// What a resource has served is a fraction of the time alone. A pressure or sensitivity
// accounts for the threads that wait for each other at its own resource, and is a
// fraction of the time that the target would take if they waited nowhere else.
func (e *estimate) convert(in *input) error {
	served, servers := make(contention.Vector, len(e.resources)), make([]int, len(e.resources))
	crowded := false
	for i, c := range e.resources {
		servers[i] = in.servers(c.resource)
		served[i] = contention.Demand{Loading: c.Work.Value, Threads: c.resource.Threads}
		if !c.Work.Taken() {
			served[i].Loading = c.Loading.Value
		}
		crowded = crowded || c.resource.Threads > servers[i]
	}
	if !crowded {
		return nil
	}
	alone, err := contention.AloneServed(served, servers, queueing.Options{})
	if err != nil {
		return fmt.Errorf("the time of the target alone: %w", err)
	}
	for i := range e.resources {
		c := &e.resources[i]
		here, err := contention.Alone(contention.Vector{{
			Loading: c.Pressure.Value, Pressure: c.Pressure.Value, Threads: c.resource.Threads,
		}}, servers[i:i+1], queueing.Options{})
		if err != nil {
			return fmt.Errorf("%s: the time of the target alone: %w", c.resource.Name, err)
		}
		pressure, loading := scaled(c.Pressure, alone/here), scaled(c.Loading, alone/here)
		if c.Loading == c.Work {
			if loading, err = converted(c.Work, i, served, servers); err != nil {
				return err
			}
		}
		c.Loading, c.Pressure, c.Sensitivity = loading, pressure, scaled(c.Sensitivity, alone/here)
	}
	return nil
}

// scaled returns an estimate of another unit, which is a fraction, too.
func scaled(e probing.Estimate, by float64) probing.Estimate {
	return probing.Estimate{Value: min(1, e.Value*by), Error: e.Error * by, Samples: e.Samples}
}

// converted returns the work at a resource as a fraction of the own time. Its interval
// goes through the same conversion.
func converted(work probing.Estimate, at int, served contention.Vector, servers []int) (probing.Estimate, error) {
	own := func(fraction float64) (float64, error) {
		v := append(contention.Vector(nil), served...)
		v[at].Loading = min(1, max(0, fraction))
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
