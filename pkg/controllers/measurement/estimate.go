package measurement

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/contention/probing"
)

// estimate is what the rounds of a measurement tell so far.
type estimate struct {
	neutral   probing.Estimate // nanoseconds; not taken without a target
	resources []component
	// unsaturated are the resources that the probe does not keep busy.
	unsaturated []*probed
	// contradiction says what does not fit together, nil for nothing.
	contradiction error
}

// component is what is known of one resource.
type component struct {
	resource *probed
	probing.Resource
}

// errors returns the estimates that must be precise.
func (e *estimate) errors() []probing.Estimate {
	var all []probing.Estimate
	for _, c := range e.resources {
		all = append(all, c.Loading, c.Pressure)
	}
	return all
}

// precise tells whether the rounds may end, after so many.
func (e *estimate) precise(s *settings, rounds int32) bool {
	if rounds < s.leastRounds() || len(e.resources) == 0 {
		return false
	}
	for _, each := range e.errors() {
		if each.Taken() && wider(reportedError(each), s.precision) {
			return false
		}
	}
	return true
}

// estimate combines the samples of the first rounds of a measurement.
func (in *input) estimate(rounds int32) (*estimate, error) {
	e := &estimate{}
	samples := in.profile.Status.Measuring.Samples
	var alone []float64
	for round := int32(1); round <= rounds; round++ {
		if s := sampleOf(samples, round, "alone"); s != nil && s.TargetNanos != nil {
			alone = append(alone, float64(*s.TargetNanos))
		}
	}
	var err error
	if len(alone) > 0 {
		if e.neutral, err = probing.GeometricMean(alone); err != nil {
			return nil, fmt.Errorf("the times of the target alone: %w", err)
		}
	}
	if in.settings.copies {
		return e, in.estimateCopies(e, rounds)
	}
	// What the target does at the CPU the other probes meet, too.
	var cpu *aside
	for _, r := range in.settings.cpuFirst() {
		if unsaturated(r, samples, rounds+1) {
			e.unsaturated = append(e.unsaturated, r)
			continue
		}
		setting := probing.Setting{Servers: in.servers(r), Threads: r.Threads, Conserving: r.Job != v1alpha1.ProbeMemoryBandwidth}
		told, err := pairs(r, samples, rounds, cpu, setting.Servers)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		found, err := probing.Measure(setting, told)
		if err != nil {
			if !errors.Is(err, probing.ErrUnexplained) {
				return nil, fmt.Errorf("%s: %w", r.Name, err)
			}
			e.contradiction = errors.Join(e.contradiction, fmt.Errorf("%s: %w", r.Name, err))
		}
		if !found.Pressure.Taken() {
			continue
		}
		e.resources = append(e.resources, component{r, found})
		if r.Job == v1alpha1.ProbeCPU {
			cpu = newAside(found, r.Threads, setting.Servers)
		}
	}
	if err := e.convert(in); err != nil {
		return nil, err
	}
	e.add()
	return e, nil
}

// pairs returns the samples of one resource, round by round. What the target took
// alone, and how fast a probe was alone, is the mean of what it was before and after.
func pairs(r *probed, samples []v1alpha1.MeasurementSample, rounds int32, cpu *aside, workers int) ([]probing.Dilations, error) {
	var all []probing.Dilations
	reach := reachOf(r, samples, rounds+1)
	for round := int32(1); round <= rounds; round++ {
		s := sampleOf(samples, round, besideName(r))
		if s == nil || s.ProbeDilation == nil {
			continue
		}
		told := probing.Dilations{Probe: s.ProbeDilation.AsApproximateFloat64()}
		if before := sampleOf(samples, round, baselineName(r)); before != nil {
			if after := sampleOf(samples, round+1, baselineName(r)); after != nil {
				drift := after.ProbeUnitsPerSecond.AsApproximateFloat64() / before.ProbeUnitsPerSecond.AsApproximateFloat64()
				told.Probe *= math.Sqrt(drift)
			}
		}
		if before := sampleOf(samples, round, "alone"); before != nil && before.TargetNanos != nil && s.TargetNanos != nil {
			after := sampleOf(samples, round+1, "alone")
			neutral := float64(*before.TargetNanos)
			if after != nil && after.TargetNanos != nil {
				neutral = math.Sqrt(neutral * float64(*after.TargetNanos))
			}
			if r.Job == v1alpha1.ProbeCPU {
				neutral += slowerProcessors(before, after, s) / float64(max(1, r.Threads))
			}
			told.Target = float64(*s.TargetNanos) / neutral
		}
		probe, target, err := cpu.atResource(told.Probe, told.Target, visits{s.ProbeComputing, reach, workers})
		if err != nil {
			return nil, err
		}
		told.Probe = max(probing.MinDilation, probe)
		if told.Target > 0 {
			told.Target = max(probing.MinDilation, target)
		}
		all = append(all, told)
	}
	return all, nil
}

// slowerProcessors returns how much longer the threads of the target ran beside a probe
// of the CPU than alone, before and maybe after, in nanoseconds. They did the same work,
// and the probe has no use for caches: the processors must have been slower by that. It
// is 0 where it is not known, or more than frequencies make.
func slowerProcessors(before, after, beside *v1alpha1.MeasurementSample) float64 {
	const most = 1.3
	if before.TargetCPUNanos == nil || beside.TargetCPUNanos == nil {
		return 0
	}
	alone, ran := float64(*before.TargetCPUNanos), float64(*beside.TargetCPUNanos)
	if after != nil && after.TargetCPUNanos != nil {
		alone = math.Sqrt(alone * float64(*after.TargetCPUNanos))
	}
	if ran > most*alone || alone > most*ran {
		return 0
	}
	return ran - alone
}

// add makes the loadings add up to at most 1, once their errors are known.
func (e *estimate) add() {
	loadings := make([]probing.Estimate, len(e.resources))
	for i, c := range e.resources {
		if c.Loading.Samples < 2 {
			return
		}
		loadings[i] = c.Loading
	}
	v, err := probing.AddUp(loadings)
	if overlap := (*probing.OverlapError)(nil); errors.As(err, &overlap) {
		parts := make([]string, len(overlap.Resources))
		for k, i := range overlap.Resources {
			parts[k] = fmt.Sprintf("%s %.2f ± %.2f", e.resources[i].resource.Name, loadings[i].Value, loadings[i].Error)
		}
		err = fmt.Errorf("the loadings add up to %.2f ± %.2f, clearly more than 1: %s overlap in time, as with asynchronous I/O or several threads",
			overlap.Sum.Value, overlap.Sum.Error, strings.Join(parts, " and "))
	}
	if err != nil {
		e.contradiction = errors.Join(e.contradiction, err)
		return
	}
	for i := range e.resources {
		e.resources[i].Loading = v.Loadings[i]
	}
}

// estimateCopies finds the loadings of a target at two resources from how long
// copies of it take at once.
func (in *input) estimateCopies(e *estimate, rounds int32) error {
	samples := in.profile.Status.Measuring.Samples
	var times []probing.CopiesTime
	for i := range samples {
		s := &samples[i]
		if *s.Round > rounds || s.TargetNanos == nil {
			continue
		}
		if n := slices.Index([]string{"alone", "copies-2", "copies-3"}, s.Step); n >= 0 {
			times = append(times, probing.CopiesTime{Copies: n + 1, Time: float64(*s.TargetNanos)})
		}
	}
	copied, err := probing.Copies(times)
	if err != nil {
		return fmt.Errorf("the times of the copies: %w", err)
	}
	if !copied.Busy {
		e.contradiction = errors.New("the copies slow each other down less than a job does that keeps these two resources busy by turns: it idles, or uses others; measure it by probes")
	}
	r := &in.settings.resources[0]
	if unsaturated(r, samples, rounds+1) {
		e.unsaturated = append(e.unsaturated, r)
	}
	s := sampleOf(samples, 1, besideName(r))
	if s == nil || s.ProbeDilation == nil {
		return errors.New("the step beside the probe is missing")
	}
	dilation := probing.Estimate{Value: s.ProbeDilation.AsApproximateFloat64(), Samples: 1}
	p, err := copied.Decide(dilation)
	if err != nil && !errors.Is(err, contention.ErrUndecided) {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	other := p
	other.Value = 1 - p.Value
	for i, loading := range []probing.Estimate{p, other} {
		e.resources = append(e.resources, component{&in.settings.resources[i], probing.Resource{Loading: loading, Pressure: loading}})
	}
	return nil
}

// vector returns the estimate as the status has it.
func (e *estimate) vector(in *input, rounds int32) v1alpha1.MeasuredVector {
	m := in.profile.Status.Measuring
	v := v1alpha1.MeasuredVector{
		NodeProfile: m.NodeProfile, Node: m.Node, Time: new(in.now), Question: m.Question, Method: in.settings.method(), Rounds: new(rounds),
	}
	if e.neutral.Taken() {
		v.NeutralMillis = new(int64(math.Round(e.neutral.Value / 1e6)))
		if !math.IsInf(e.neutral.Error, 1) {
			v.NeutralErrorMillis = new(int64(math.Ceil(e.neutral.Error / 1e6)))
		}
	}
	for _, c := range e.resources {
		l := v1alpha1.MeasuredLoading{
			Name: c.resource.Name, Threads: new(int32(c.resource.Threads)), Samples: new(int32(max(c.Loading.Samples, c.Pressure.Samples))),
			Loading: rounded(c.Loading.Value), Pressure: rounded(c.Pressure.Value),
		}
		if !math.IsInf(c.Loading.Error, 1) {
			l.LoadingError = rounded(reportedError(c.Loading))
		}
		if !math.IsInf(c.Pressure.Error, 1) {
			l.PressureError = rounded(reportedError(c.Pressure))
		}
		if c.Sensitivity.Taken() {
			l.Sensitivity = rounded(c.Sensitivity.Value)
			if !math.IsInf(c.Sensitivity.Error, 1) {
				l.SensitivityError = rounded(reportedError(c.Sensitivity))
			}
		}
		v.Resources = append(v.Resources, l)
	}
	return v
}

// rounded returns a number with three decimals, more than any measurement has, so that
// people read 605m.
func rounded(x float64) *resource.Quantity {
	q := resource.MustParse(strconv.FormatFloat(x, 'f', 3, 64))
	return &q
}
