package probing

import (
	"errors"
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/contention"
)

// Saturation reports whether the probe kept the resource busy. If it did not, others
// may use the resource without slowing it down, and a pressure of 0 means nothing.
type Saturation int

const (
	// Unknown says that the target did not slow the probe down, and it was not checked
	// whether a second probe would have. The pressure may be 0, or the probe too
	// weak to tell.
	Unknown Saturation = iota
	// Saturated says that two probes slow each other down to [LeastSelfDilation] or
	// more, or that the target slowed the probe down.
	Saturated
	// Unsaturated says that a second probe hardly slows it down, and neither did the
	// target. Nothing was measured: the resource needs a higher intensity, or is not one
	// that jobs wait for.
	Unsaturated
)

// String returns the name in lower case.
func (s Saturation) String() string {
	switch s {
	case Saturated:
		return "saturated"
	case Unsaturated:
		return "unsaturated"
	case Unknown:
		return "unknown"
	default:
		return fmt.Sprintf("Saturation(%d)", int(s))
	}
}

// LeastSelfDilation is how much two copies of a probe dilate each other, at least,
// if one keeps the resource busy: 2, give or take noise.
const LeastSelfDilation = 1.8

// Setting is where samples were taken: a probe with as many workers as the resource
// has servers, and a target, on a node where nobody else runs. See [Among.Quiet] for
// any other.
type Setting struct {
	// Servers is the number of servers of the resource.
	Servers int
	// Threads is how many threads of the target use it at once. Zero means one.
	Threads int
	// SelfDilation is how much two copies of the probe dilate each other. Zero: it
	// was not checked.
	SelfDilation float64
	// Conserving says that a server of the resource gets as much done whomever it
	// serves, and in whatever order, as processors, disks and links do. Memory, whose
	// speed depends on the patterns of access, does not.
	Conserving bool
}

// Resource is what rounds with one probe tell of a target. Values lie between 0
// and 1.
type Resource struct {
	// Loading is the fraction of its time alone that the target spends at the
	// resource. It is the work where the resource conserves work, which holds however
	// the resource favours one of those it serves; else it is the sensitivity, and
	// where neither was measured the pressure.
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
	// Saturation must be looked at before Loading is believed.
	Saturation Saturation
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
// An error that names a sample is for an invalid one. An error that wraps
// [ErrUnexplained] comes with the result, and says that the dilations are not those of
// such a target, by more than the intervals allow: it has more threads, or what runs
// beside it helps it. A pressure or a sensitivity above 1 is explained by an unfair
// share, and reported as 1, where both dilations were measured and the work adds up;
// where only one was, it is not.
func Measure(setting Setting, samples []Sample) (Resource, error) {
	if err := validate(setting.Servers, setting.Threads); err != nil {
		return Resource{}, err
	}
	if self := setting.SelfDilation; !(self >= 0) || math.IsInf(self, 1) {
		return Resource{}, fmt.Errorf("selfDilation: %v is not a dilation, nor 0 where it was not checked", self)
	}
	var probe, target, work []float64
	for k, s := range samples {
		if err := s.validate(); err != nil {
			return Resource{}, fmt.Errorf("samples[%d]: %w", k, err)
		}
		if s.hasProbe() {
			probe = append(probe, s.Probe)
		}
		if s.hasTarget() {
			target = append(target, s.Beside/s.Neutral)
		}
		if s.hasProbe() && s.hasTarget() {
			w, err := Loading(s.Beside/s.Neutral, s.Probe, setting.Servers, setting.Threads)
			if err != nil {
				return Resource{}, fmt.Errorf("samples[%d]: %w", k, err)
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
	quiet := Among{Servers: []int{s.Servers}, Target: contention.Vector{{Threads: s.Threads}}}
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
	case errors.Is(err, ErrAmbiguous): // the target crowds the resource by itself
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
	switch {
	case s.SelfDilation >= LeastSelfDilation || pressure.Taken() && pressure.Value > pressure.Error:
		r.Saturation = Saturated
	case s.SelfDilation > 0:
		r.Saturation = Unsaturated
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

// estimate turns measured dilations into a loading, which noise may take beyond 0
// and 1. The error wraps ErrUnexplained if it is more than noise: if they are clearly
// below 1 or, where shares are fair, above what a loading of 1 leads to.
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
	case fair && math.Exp(center-margin) > clearlySlower*c.most():
		return e, fmt.Errorf("%s: the dilation %s is %v, and no more than %.3f if the target has that many threads there, and a fair share: %w",
			what, whose, dilation, c.most(), ErrUnexplained)
	}
	return e, nil
}
