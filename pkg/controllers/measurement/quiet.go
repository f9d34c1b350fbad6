package measurement

import (
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/contention/probing"
	"loadline.dev/loadline/pkg/model/queueing"
)

// pair is what a round told of one resource: the ratios of the probe's rates and of
// the target's times, without the other and beside it. The latter is 0 if unknown.
type pair struct {
	resource      *probed
	sample        *v1alpha1.MeasurementSample // of the step beside the probe
	probe, target float64
	reach         float64 // of the probe
	at            int     // the resource's place in vectors
}

// quieten turns the samples of the round that ends into those that a quiet node
// with one pod of the workload would have given: what neighbours had to do with
// them is known now, and what the round tells of the other resources too.
func (in *input) quieten() error {
	m := in.profile.Status.Measuring
	pairs := in.pairsOfRound()
	here, there := in.node(m.Node), in.node(m.BaselineNode)
	if here == nil || in.settings.copies {
		return nil
	}
	pods := 1
	if in.settings.target == nil {
		pods = max(1, here.followers)
		for i := range pairs {
			if err := pairs[i].relocate(here, there); err != nil {
				return err
			}
		}
	}
	if len(here.neighbours) == 0 && pods == 1 {
		for i := range pairs {
			pairs[i].sample.ProbeDilation = quantity(pairs[i].probe)
		}
		return nil
	}
	vector, err := here.solve(pairs, pods)
	if err != nil {
		return err
	}
	return in.rewrite(pairs, vector, here)
}

// pairsOfRound returns what the round that ends told, with nothing corrected.
func (in *input) pairsOfRound() []pair {
	m := in.profile.Status.Measuring
	alone := sampleOf(m.Samples, *m.Round, "alone")
	var all []pair
	for i := range in.settings.resources {
		r := &in.settings.resources[i]
		p := pair{resource: r, reach: reachOf(r, m.Samples, *m.Round+1)}
		p.sample = sampleOf(m.Samples, *m.Round, besideName(p.resource))
		if p.sample == nil {
			continue
		}
		if without := sampleOf(m.Samples, *m.Round, baselineName(p.resource)); without != nil {
			p.probe = without.ProbeUnitsPerSecond.AsApproximateFloat64() / p.sample.ProbeUnitsPerSecond.AsApproximateFloat64()
			p.sample.ProbeComputing = without.ProbeComputing
		} else {
			p.probe = p.sample.ProbeDilation.AsApproximateFloat64()
		}
		if alone != nil && p.sample.TargetNanos != nil {
			p.target = float64(*p.sample.TargetNanos) / float64(*alone.TargetNanos)
		}
		all = append(all, p)
	}
	return all
}

// relocate makes the ratio of a probe that ran alone elsewhere the one that it would
// have been here: other neighbours slowed it down there. One that tells by itself how
// fast it is has no neighbours then.
func (p *pair) relocate(here, there *node) error {
	with, err := here.probeAmong(p.resource)
	if err != nil {
		return err
	}
	elsewhere := 1.0
	if p.resource.needsBaseline() && there != nil {
		if elsewhere, err = there.probeAmong(p.resource); err != nil {
			return err
		}
	}
	p.probe *= elsewhere / with
	return nil
}

// probeAmong returns the dilation of a probe beside the neighbours on a node.
func (n *node) probeAmong(r *probed) (float64, error) {
	if len(n.neighbours) == 0 {
		return 1, nil
	}
	at, err := n.place(r)
	if err != nil {
		return 0, err
	}
	probe := make(contention.Vector, len(n.resources))
	probe[at] = contention.Demand{Loading: 1, Pressure: 1, Threads: n.capacity[at]}
	return first(append([]contention.Vector{probe}, n.neighbours...), n.capacity)
}

// place returns the place of a resource in the vectors of a node.
func (n *node) place(r *probed) (int, error) {
	at := slices.Index(n.resources, r.Name)
	if at < 0 {
		return 0, fmt.Errorf("no node is said to have the resource %q, so that nobody knows what other pods do there: name it in a NodeProfile", r.Name)
	}
	return at, nil
}

const (
	// passes is how many times at most the components are solved for in turn, and
	// still by how much none changes any more then.
	passes = 50
	still  = 1e-5
)

// solve returns the vector, per thread of a pod, with which so many pods explain all
// ratios of a round among the neighbours of a node. The ratio at one resource depends
// on the demands at the others, so that the components are solved for in turn.
func (n *node) solve(pairs []pair, pods int) (contention.Vector, error) {
	v := make(contention.Vector, len(n.resources))
	cpu := -1
	for i := range pairs {
		var err error
		if pairs[i].at, err = n.place(pairs[i].resource); err != nil {
			return nil, err
		}
		v[pairs[i].at].Threads = pairs[i].resource.Threads * pods
		if pairs[i].resource.Job == v1alpha1.ProbeCPU {
			cpu = pairs[i].at
		}
	}
	for range passes {
		moved := 0.0
		for i := range pairs {
			p := &pairs[i]
			among := probing.Among{Servers: n.capacity, Neighbours: n.neighbours, Resource: p.at, Target: possible(v, p.at)}
			var met *aside
			if cpu >= 0 {
				met = &aside{possible(v, p.at)[cpu], n.capacity[cpu]}
			}
			probe, target, err := met.atResource(p.probe, p.target, visits{p.sample.ProbeComputing, p.reach, n.capacity[p.at]})
			if err != nil {
				return nil, err
			}
			pressure, err := among.Pressure(probe)
			if err != nil {
				return nil, fmt.Errorf("%s beside the other pods of node %s: %w", p.resource.Name, n.name(), err)
			}
			loading := pressure
			if target > 0 {
				if loading, err = among.Sensitivity(target); err != nil {
					return nil, fmt.Errorf("%s beside the other pods of node %s: %w", p.resource.Name, n.name(), err)
				}
			}
			moved = max(moved, math.Abs(pressure-v[p.at].Pressure), math.Abs(loading-v[p.at].Loading))
			v[p.at].Loading, v[p.at].Pressure = loading, pressure
		}
		if moved < still {
			break
		}
	}
	return v, nil
}

// possible returns a symmetric vector without what noise has taken beyond the
// possible, and with room for another loading at one resource, which does not matter.
// A pressure that differs from the loading would make the solution depend on the
// noise of both.
func possible(v contention.Vector, at int) contention.Vector {
	const most = 0.99
	v = slices.Clone(v)
	v[at].Loading, v[at].Pressure = 0, 0
	total := 0.0
	for i := range v {
		v[i].Loading = min(1, max(0, v[i].Loading))
		total += v[i].Loading
	}
	for i := range v {
		v[i].Loading *= most / max(total, most)
		v[i].Pressure = v[i].Loading
	}
	return v
}

// rewrite makes the samples those of one pod with a vector on a quiet node.
func (in *input) rewrite(pairs []pair, v contention.Vector, n *node) error {
	m := in.profile.Status.Measuring
	neutral := 0.0
	if alone := sampleOf(m.Samples, *m.Round, "alone"); alone != nil {
		whole := possible(append(slices.Clone(v), contention.Demand{}), len(v))[:len(v)]
		slower, err := first(append([]contention.Vector{whole}, n.neighbours...), n.capacity)
		if err != nil {
			return fmt.Errorf("the neutral time beside the other pods of node %s: %w", n.name(), err)
		}
		neutral = float64(*alone.TargetNanos) / slower
		alone.TargetNanos = new(int64(neutral))
	}
	for _, p := range pairs {
		threads, servers := p.resource.Threads, n.capacity[p.at]
		probe, _, err := pairDilations(v[p.at].Pressure, threads, servers)
		if err != nil {
			return err
		}
		p.sample.ProbeDilation, p.sample.ProbeComputing = quantity(max(probing.MinDilation, probe)), nil
		if p.target == 0 {
			p.sample.TargetNanos = nil
			continue
		}
		_, target, err := pairDilations(v[p.at].Loading, threads, servers)
		if err != nil {
			return err
		}
		p.sample.TargetNanos = new(int64(neutral * max(probing.MinDilation, target)))
	}
	return nil
}

// pairDilations returns how a probe and a target of this loading dilate each other on
// a quiet node. Noise may take the loading beyond 0 and 1.
func pairDilations(loading float64, threads, servers int) (probe, target float64, err error) {
	if threads <= 1 || loading < 0 || loading > 1 {
		slope := loading / float64(servers)
		return 1 + float64(max(threads, 1))*slope, 1 + slope, nil
	}
	worker := contention.Vector{{Loading: 1, Pressure: 1, Threads: servers}}
	job := contention.Vector{{Loading: loading, Pressure: loading, Threads: threads}}
	both, err := dilations([]contention.Vector{worker, job}, []int{servers})
	if err != nil {
		return 0, 0, err
	}
	return both[0], both[1], nil
}

// first returns the dilation of the first of some jobs on a node.
func first(jobs []contention.Vector, servers []int) (float64, error) {
	all, err := dilations(jobs, servers)
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// dilations returns those of some jobs on a node.
func dilations(jobs []contention.Vector, servers []int) ([]float64, error) {
	p, err := contention.Predict(jobs, servers, queueing.Options{})
	if err != nil {
		return nil, err
	}
	return p.Dilations, nil
}
