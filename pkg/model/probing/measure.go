package probing

import (
	"errors"
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/loading"
)

// MinSelfDilation is the least dilation of two copies of a probe by each other if one of them keeps
// the resource busy: 2, within noise. Below it, others may use the resource without slowing the
// probe down, and its dilation says nothing.
const MinSelfDilation = 1.8

// Setting describes the place of the rounds: a probe with one worker for each server of its
// resource, and a target, on a node without neighbours. See [Among] for any other.
type Setting struct {
	// Servers is the number of servers of the resource.
	Servers int
	// Threads is how many threads of the target use it at once. Zero means one.
	Threads int
	// Conserving says that a server of the resource gets as much done whatever thread it
	// serves, and in whatever order, as processors, disks and links do. Memory, whose
	// speed depends on the patterns of access, does not.
	Conserving bool
}

// Resource is the result for a target from the rounds with one probe. Values lie between 0 and 1.
type Resource struct {
	// Loading is the fraction of its time alone that the target spends at the resource. It is the
	// work where the resource conserves work, which holds even if the resource favours one of those
	// it serves; else it is the sensitivity, and where neither was measured the pressure.
	Loading Estimate
	// Pressure is how much a thread of the target stands in others' way, from the
	// dilation of the probe.
	Pressure Estimate
	// Sensitivity is from the dilation of the target. It is not taken where more
	// threads than the resource has servers leave it [ErrAmbiguous].
	Sensitivity Estimate
	// Work is the fraction of its time alone that each thread is served, by
	// conservation of work, from rounds in which both dilations were measured. See
	// [Loading].
	Work Estimate
}

const (
	// clearlyFaster and clearlySlower are how far the dilations that the interval
	// allows may be beyond those that a loading from 0 to 1 leads to: so much
	// difference frequencies and caches make, to all rounds alike.
	clearlyFaster = 0.95
	clearlySlower = 1.05
)

// Measure combines the rounds of one probe and one target. Ratios are averaged as by
// [GeometricMean], and the mean is turned into a pressure and a sensitivity, that of
// several threads too.
//
// An error that names a round is for an invalid one. An error that wraps [ErrUnexplained] comes
// with the result, and says that the dilations are not those of such a target, by more than the
// intervals allow: it has more threads, or the load beside it helps it. A pressure or a sensitivity
// above 1 is explained by an unfair share, and reported as 1, where both dilations were measured
// and the work adds up; where only one was, it is not.
func Measure(setting Setting, rounds []Dilations) (Resource, error) {
	if err := validate(setting.Servers, setting.Threads); err != nil {
		return Resource{}, err
	}
	var probe, target, work []float64
	for k, d := range rounds {
		if err := d.validate(); err != nil {
			return Resource{}, fmt.Errorf("rounds[%d]: %w", k, err)
		}
		if d.Probe != 0 {
			probe = append(probe, d.Probe)
		}
		if d.Target != 0 {
			target = append(target, d.Target)
		}
		if d.Probe != 0 && d.Target != 0 {
			w, err := Loading(d.Target, d.Probe, setting.Servers, setting.Threads)
			if err != nil {
				return Resource{}, fmt.Errorf("rounds[%d]: %w", k, err)
			}
			work = append(work, w)
		}
	}
	return setting.combine(probe, target, work)
}

// combine makes a result of the dilations of the probe, those of the target, and the
// loadings by conservation of work.
func (s Setting) combine(probe, target, work []float64) (Resource, error) {
	var r Resource
	quiet := Among{Servers: []int{s.Servers}, Target: loading.Vector{{Threads: s.Threads}}}
	pressures, err := quiet.pressures()
	if err != nil {
		return r, err
	}
	total, overdone := served(work)
	r.Work = total.fraction()
	fair := !total.Taken() // if that explains the dilations, the shares need not be fair
	pressure, far := pressures.estimate("pressure", "of the probe", probe, fair)
	r.Pressure = pressure.fraction()

	sensitivities, err := quiet.sensitivities()
	switch {
	case errors.Is(err, ErrAmbiguous): // the target fills the resource by itself
	case err != nil:
		return r, err
	default:
		sensitivity, further := sensitivities.estimate("sensitivity", "of the target", target, fair)
		r.Sensitivity = sensitivity.fraction()
		far = errors.Join(far, further)
	}

	switch {
	case !r.Sensitivity.Taken(): // the work then is a fraction of another time than the neutral one
		r.Loading = r.Pressure
	case s.Conserving && r.Work.Taken():
		r.Loading = r.Work
	default:
		r.Loading = r.Sensitivity
	}
	return r, errors.Join(far, overdone)
}

// served combines loadings by conservation of work. The error wraps ErrUnexplained if
// the target is served for more time than it has.
func served(work []float64) (Estimate, error) {
	if len(work) == 0 {
		return Estimate{}, nil
	}
	center, margin := mean(work)
	e := Estimate{center, margin, len(work)}
	if center-margin > clearlySlower {
		return e, fmt.Errorf("work: each thread of the target is served for %v of its time: it has more threads there than was said: %w", e, ErrUnexplained)
	}
	return e, nil
}

// estimate turns measured dilations into a loading, which noise may take beyond 0 and 1. The error
// wraps ErrUnexplained if the excess is more than noise: if they are clearly below 1 or, where
// shares are fair, above the dilation of a loading of 1.
func (c *curve) estimate(what, whose string, dilations []float64, fair bool) (Estimate, error) {
	if len(dilations) == 0 {
		return Estimate{}, nil
	}
	logs, err := logarithms(dilations)
	if err != nil {
		return Estimate{}, err
	}
	center, margin := mean(logs)
	var failed error
	e := through(center, margin, len(dilations), func(log float64) float64 {
		loading, err := c.loading(math.Exp(log))
		failed = errors.Join(failed, err)
		return loading
	})
	if failed != nil {
		return Estimate{}, failed
	}
	dilation := through(center, margin, len(dilations), math.Exp)
	switch {
	case math.Exp(center+margin) < clearlyFaster*c.dilations[0]:
		return e, fmt.Errorf("%s: the dilation %s is %v, clearly below 1: it is faster in company than alone: %w", what, whose, dilation, ErrUnexplained)
	case fair && math.Exp(center-margin) > clearlySlower*c.highest():
		return e, fmt.Errorf("%s: the dilation %s is %v, and no more than %.3f if the target has that many threads there, and a fair share: %w",
			what, whose, dilation, c.highest(), ErrUnexplained)
	}
	return e, nil
}
