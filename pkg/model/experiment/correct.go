package experiment

import (
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/probing"
)

// Correct returns the samples with those of a round as one pod of the workload would have given
// them on a node without neighbours. Each sample of a service beside a probe then has the probe's
// dilation. Samples of copies are unchanged.
//
// The error is for neighbours on a node without one of the resources, and for dilations
// that no loading explains among the neighbours: see [probing.Among].
func (e Experiment) Correct(samples []Sample, round int, site Site) ([]Sample, error) {
	samples = slices.Clone(samples)
	if e.Copies {
		return samples, nil
	}
	pairs := e.pairs(samples, round)
	pods := 1
	if e.Service {
		pods = max(1, site.Pods)
		for i := range pairs {
			relocation, err := site.relocation(pairs[i].Resource)
			if err != nil {
				return nil, err
			}
			pairs[i].dilations.Probe *= relocation
		}
	}
	if len(site.Node.Neighbours) == 0 && pods == 1 {
		for _, p := range pairs {
			s := &samples[p.sample]
			s.ProbeDilation, s.ProbeComputing = p.dilations.Probe, p.cycle.computing
		}
		return samples, nil
	}
	vector, err := site.Node.solve(pairs, pods)
	if err != nil {
		return nil, err
	}
	if err := site.Node.isolate(samples, round, pairs, vector); err != nil {
		return nil, err
	}
	return samples, nil
}

// pair is a probe and the target, or the pods of a service, beside each other in a round.
type pair struct {
	Resource
	sample    int // its index
	dilations probing.Dilations
	cycle     cycle
	component int // the index of the resource in the vectors of the node
}

// pairs returns those of a round, with nothing corrected.
func (e Experiment) pairs(samples []Sample, round int) []pair {
	alone := Find(samples, round, Alone)
	var all []pair
	for _, r := range e.Resources {
		p := pair{Resource: r, sample: index(samples, round, Beside(r.Name))}
		if p.sample < 0 {
			continue
		}
		s := samples[p.sample]
		p.dilations.Probe = s.ProbeDilation
		p.cycle = cycle{computing: s.ProbeComputing, served: servedFraction(samples, r.Name, round)}
		if without := Find(samples, round, Baseline(r.Name)); without.ProbeUnitsPerSecond > 0 {
			p.dilations.Probe = without.ProbeUnitsPerSecond / s.ProbeUnitsPerSecond
			p.cycle.computing = without.ProbeComputing
		}
		if alone.TargetNanos > 0 {
			p.dilations.Target = s.TargetNanos / alone.TargetNanos
		}
		all = append(all, p)
	}
	return all
}

// relocation returns the factor that makes the dilation of a probe, which ran without the
// service elsewhere, the one that it would have if it had done so here: other neighbours
// slowed it down there. A probe that needs no baseline had no neighbours then.
func (s Site) relocation(r Resource) (float64, error) {
	here, err := s.Node.probeDilation(r)
	if err != nil {
		return 0, err
	}
	elsewhere := 1.0
	if !r.CPU && s.Baseline != nil {
		if elsewhere, err = s.Baseline.probeDilation(r); err != nil {
			return 0, err
		}
	}
	return elsewhere / here, nil
}

// probeDilation returns the dilation of a probe beside the neighbours.
func (n Host) probeDilation(r Resource) (float64, error) {
	if len(n.Neighbours) == 0 {
		return 1, nil
	}
	at, err := n.index(r.Name)
	if err != nil {
		return 0, err
	}
	probe := make(loading.Vector, len(n.Resources))
	probe[at] = loading.Demand{Loading: 1, Pressure: 1, Threads: n.Servers[at]}
	return n.amongNeighbours(probe)
}

const (
	// maxPasses is how many times at most the components are solved for in turn, and
	// converged by how much each of them still changes when they are solved.
	maxPasses = 50
	converged = 1e-5
)

// solve returns the vector, per thread of a pod, with which a number of pods explain all
// dilations of a round among the neighbours. The dilation at one resource depends on the
// demands at the others, so that the components are solved for in turn.
func (n Host) solve(pairs []pair, pods int) (loading.Vector, error) {
	v := make(loading.Vector, len(n.Resources))
	cpu := -1
	for i := range pairs {
		p := &pairs[i]
		var err error
		if p.component, err = n.index(p.Name); err != nil {
			return nil, err
		}
		p.cycle.workers = n.Servers[p.component]
		v[p.component].Threads = p.Threads * pods
		if p.CPU {
			cpu = p.component
		}
	}
	for range maxPasses {
		change := 0.0
		for _, p := range pairs {
			pressure, loading, err := n.component(p, v, cpu)
			if err != nil {
				return nil, err
			}
			component := &v[p.component]
			change = max(change, math.Abs(pressure-component.Pressure), math.Abs(loading-component.Loading))
			component.Loading, component.Pressure = loading, pressure
		}
		if change < converged {
			break
		}
	}
	return v, nil
}

// component returns the pressure and the loading that explain the dilations of a pair,
// with the other components of a vector; cpu is the index of that of the CPU, -1 if there
// is none. The loading is the pressure where the target was not measured.
func (n Host) component(p pair, v loading.Vector, cpu int) (pressure, loading float64, err error) {
	among := probing.Among{Servers: n.Servers, Neighbours: n.Neighbours, Resource: p.component, Target: possible(v, p.component)}
	var atCPU *cpuUse
	if cpu >= 0 {
		atCPU = &cpuUse{possible(v, p.component)[cpu], n.Servers[cpu]}
	}
	d, err := atCPU.atResource(p.dilations, p.cycle)
	if err != nil {
		return 0, 0, err
	}
	if pressure, err = among.Pressure(d.Probe); err != nil {
		return 0, 0, n.errorBeside(p.Name, err)
	}
	if d.Target <= 0 {
		return pressure, pressure, nil
	}
	if loading, err = among.Sensitivity(d.Target); err != nil {
		return 0, 0, n.errorBeside(p.Name, err)
	}
	return pressure, loading, nil
}

// errorBeside returns an error that names the value that the neighbours make impossible to
// determine.
func (n Host) errorBeside(what string, err error) error {
	return fmt.Errorf("%s beside the other pods of node %s: %w", what, n.Name, err)
}

// possible returns a symmetric vector without the excess that noise has added, and with 0 at one
// resource, so that there is room for any loading there. A pressure that differs from the loading
// would make the solution depend on the noise of both.
func possible(v loading.Vector, except int) loading.Vector {
	const maxTotal = 0.99
	v = slices.Clone(v)
	v[except].Loading, v[except].Pressure = 0, 0
	total := 0.0
	for i := range v {
		v[i].Loading = fraction(v[i].Loading)
		total += v[i].Loading
	}
	for i := range v {
		v[i].Loading *= maxTotal / max(total, maxTotal)
		v[i].Pressure = v[i].Loading
	}
	return v
}

// isolate replaces the samples of a round by those of one pod with a vector on a node
// without neighbours.
func (n Host) isolate(samples []Sample, round int, pairs []pair, v loading.Vector) error {
	neutral := 0.0
	if alone := index(samples, round, Alone); alone >= 0 {
		whole := possible(append(slices.Clone(v), loading.Demand{}), len(v))[:len(v)]
		dilation, err := n.amongNeighbours(whole)
		if err != nil {
			return n.errorBeside("the neutral time", err)
		}
		neutral = samples[alone].TargetNanos / dilation
		samples[alone].TargetNanos = neutral
	}
	for _, p := range pairs {
		servers := n.Servers[p.component]
		d, err := pairDilations(v[p.component].Pressure, p.Threads, servers)
		if err != nil {
			return err
		}
		s := &samples[p.sample]
		s.ProbeDilation, s.ProbeComputing, s.TargetNanos = max(probing.MinDilation, d.Probe), nil, 0
		if p.dilations.Target == 0 {
			continue
		}
		if d, err = pairDilations(v[p.component].Loading, p.Threads, servers); err != nil {
			return err
		}
		s.TargetNanos = neutral * max(probing.MinDilation, d.Target)
	}
	return nil
}

// pairDilations returns how a probe and a target with a loading dilate each other on a
// node without neighbours. Noise may have moved the loading below 0 or above 1.
func pairDilations(fraction float64, threads, servers int) (probing.Dilations, error) {
	if threads <= 1 || fraction < 0 || fraction > 1 {
		slope := fraction / float64(servers)
		return probing.Dilations{Probe: 1 + float64(max(threads, 1))*slope, Target: 1 + slope}, nil
	}
	probe := loading.Vector{{Loading: 1, Pressure: 1, Threads: servers}}
	target := loading.Vector{{Loading: fraction, Pressure: fraction, Threads: threads}}
	both, err := dilations([]loading.Vector{probe, target}, []int{servers})
	if err != nil {
		return probing.Dilations{}, err
	}
	return probing.Dilations{Probe: both[0], Target: both[1]}, nil
}
