package experiment

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"loadline.dev/loadline/pkg/model/probing"
)

// Result is the result of the rounds of an experiment.
type Result struct {
	// Neutral is the time of the target alone, in nanoseconds; not taken of a service.
	Neutral probing.Estimate
	// Components are those of the loading vector, the CPU first. Resources without a result have
	// none.
	Components []Component
	// Interference holds the results at interference resources. Those that are [Imperceptible] are
	// missing.
	Interference []Interference
	// Unsaturated are the indices of the resources that their probes do not keep busy.
	Unsaturated []int
	// Contradiction names the results that contradict each other, nil for none.
	Contradiction error
}

// Component is the result for one resource.
type Component struct {
	// Index is that of the resource in [Experiment.Resources].
	Index int
	probing.Resource
}

// Estimate combines the corrected samples of the first rounds. Samples of a later, unfinished round
// count only for the speeds of the target alone and of the probes after the last of these rounds.
//
// An error means that samples are missing or impossible.
func (e Experiment) Estimate(samples []Sample, rounds int) (Result, error) {
	var r Result
	var err error
	if r.Neutral, err = neutral(samples, rounds); err != nil {
		return r, fmt.Errorf("the times of the target alone: %w", err)
	}
	if e.Copies {
		return r, e.estimateCopies(&r, samples, rounds)
	}
	if err := e.estimateProbes(&r, samples, rounds); err != nil {
		return r, err
	}
	r.Interference, err = estimateInterference(e.Interference, samples, rounds)
	return r, err
}

// neutral returns the time of the target alone, which is not taken if it never ran alone.
func neutral(samples []Sample, rounds int) (probing.Estimate, error) {
	var times []float64
	for round := range rounds {
		if s := Find(samples, round+1, Alone); s.TargetNanos > 0 {
			times = append(times, s.TargetNanos)
		}
	}
	if len(times) == 0 {
		return probing.Estimate{}, nil
	}
	return probing.GeometricMean(times)
}

// estimateProbes adds the measurements by probes to a result.
func (e Experiment) estimateProbes(r *Result, samples []Sample, rounds int) error {
	var cpu *cpuUse
	for _, i := range e.cpuFirst() {
		resource := e.Resources[i]
		if Unsaturated(samples, resource.Name, rounds) {
			r.Unsaturated = append(r.Unsaturated, i)
			continue
		}
		all, err := resource.dilations(samples, rounds, cpu)
		if err != nil {
			return fmt.Errorf("%s: %w", resource.Name, err)
		}
		setting := probing.Setting{Servers: resource.Servers, Threads: resource.Threads, Conserving: resource.Conserving}
		found, err := probing.Measure(setting, all)
		if err != nil {
			err = fmt.Errorf("%s: %w", resource.Name, err)
			if !errors.Is(err, probing.ErrUnexplained) {
				return err
			}
			r.Contradiction = errors.Join(r.Contradiction, err)
		}
		if !found.Pressure.Taken() {
			continue
		}
		r.Components = append(r.Components, Component{i, found})
		if resource.CPU {
			cpu = newCPUUse(found, resource)
		}
	}
	if err := e.toOwnTime(r.Components); err != nil {
		return err
	}
	if err := e.addUp(r.Components); err != nil {
		r.Contradiction = errors.Join(r.Contradiction, err)
	}
	return nil
}

// dilations returns those at a resource, round by round. The time of the target alone and the rate
// of a probe alone are means of their values before and after.
func (r Resource) dilations(samples []Sample, rounds int, cpu *cpuUse) ([]probing.Dilations, error) {
	var all []probing.Dilations
	served := servedFraction(samples, r.Name, rounds)
	for round := 1; round <= rounds; round++ {
		s := Find(samples, round, Beside(r.Name))
		if s.ProbeDilation == 0 {
			continue
		}
		d := probing.Dilations{Probe: s.ProbeDilation}
		before, after := Find(samples, round, Baseline(r.Name)), Find(samples, round+1, Baseline(r.Name))
		if before.ProbeUnitsPerSecond > 0 && after.ProbeUnitsPerSecond > 0 {
			d.Probe *= math.Sqrt(after.ProbeUnitsPerSecond / before.ProbeUnitsPerSecond)
		}
		before, after = Find(samples, round, Alone), Find(samples, round+1, Alone)
		if before.TargetNanos > 0 && s.TargetNanos > 0 {
			alone := before.TargetNanos
			if after.TargetNanos > 0 {
				alone = math.Sqrt(alone * after.TargetNanos)
			}
			if r.CPU {
				alone += slowdown(before, after, s) / float64(max(1, r.Threads))
			}
			d.Target = s.TargetNanos / alone
		}
		d, err := cpu.atResource(d, cycle{s.ProbeComputing, served, r.Servers})
		if err != nil {
			return nil, err
		}
		d.Probe = max(probing.MinDilation, d.Probe)
		if d.Target != 0 {
			d.Target = max(probing.MinDilation, d.Target)
		}
		all = append(all, d)
	}
	return all, nil
}

// slowdown returns how much longer the threads of the target ran beside a probe of the CPU
// than alone, before and maybe after, in nanoseconds. They did the same work, and the
// probe has no use for caches: the processors were slower by that. It is 0 where it is not
// known, or more than frequencies make.
func slowdown(before, after, beside Sample) float64 {
	const maxRatio = 1.3
	alone, ran := before.TargetCPUNanos, beside.TargetCPUNanos
	if alone == 0 || ran == 0 {
		return 0
	}
	if after.TargetCPUNanos > 0 {
		alone = math.Sqrt(alone * after.TargetCPUNanos)
	}
	if ran > maxRatio*alone || alone > maxRatio*ran {
		return 0
	}
	return ran - alone
}

// addUp makes the loadings add up to at most 1, once their errors are known. The error says that
// they clearly add up to more, and leaves them unchanged.
func (e Experiment) addUp(components []Component) error {
	loadings := make([]probing.Estimate, len(components))
	for i, c := range components {
		if c.Loading.Samples < 2 {
			return nil
		}
		loadings[i] = c.Loading
	}
	v, err := probing.AddUp(loadings)
	if overlap := (*probing.OverlapError)(nil); errors.As(err, &overlap) {
		parts := make([]string, len(overlap.Resources))
		for k, i := range overlap.Resources {
			parts[k] = fmt.Sprintf("%s %.2f ± %.2f", e.Resources[components[i].Index].Name, loadings[i].Value, loadings[i].Error)
		}
		return fmt.Errorf("the loadings add up to %.2f ± %.2f, clearly more than 1: %s overlap in time, as with asynchronous I/O or several threads",
			overlap.Sum.Value, overlap.Sum.Error, strings.Join(parts, " and "))
	}
	if err != nil {
		return err
	}
	for i := range components {
		components[i].Loading = v.Loadings[i]
	}
	return nil
}
