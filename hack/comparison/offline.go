package comparison

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Offline places pods by a policy of replays, one after the other in the order in which they come, without a cluster.
// Policies see utilizations and prices of this very moment, to first order: utilizations are the true ones, prices those by
// the profiles, and by requests where there are none.
type Offline struct {
	scenario *scenario.Scenario
	policy   placement.Policy
	classes  map[*scenario.Size]*mix.Mixes
	jobs     map[*scenario.Application]*placement.Job
	nodes    []*placement.NodeState
	waiting  []int
}

// lotsStream is that of random choices among equal nodes.
const lotsStream arrivals.Stream = 201

// NewOffline returns a placer by the policy of that name.
func NewOffline(s *scenario.Scenario, policy string) (*Offline, error) {
	p, err := placement.Named(policy, placement.Options{
		Rand: rand.New(arrivals.Source(s.Seed, lotsStream)), CPU: scenario.CPU,
		Scored: []placement.Scored{placement.ScoredCPU(0), placement.ScoredMemory(1)},
	})
	if err != nil {
		return nil, err
	}
	o := &Offline{scenario: s, policy: p, nodes: make([]*placement.NodeState, len(s.Nodes))}
	vectors := map[*scenario.Application]loading.Vector{}
	for _, a := range s.Applications {
		switch {
		case policy != (placement.LeastDilation{}).Name():
			vectors[a] = a.Vector
		case a.Declared != nil:
			vectors[a] = a.Declared
		default:
			if vectors[a], err = assumed(s.PodObject(&scenario.Pod{Application: a}, "")); err != nil {
				return nil, err
			}
		}
	}
	o.jobs = jobsOf(s, func(a *scenario.Application) loading.Vector { return vectors[a] })
	o.classes, err = mixesOf(s)
	return o, err
}

// jobsOf returns the applications as policies take them: with a vector, their weight, and what they request of CPU and memory.
func jobsOf(s *scenario.Scenario, vector func(*scenario.Application) loading.Vector) map[*scenario.Application]*placement.Job {
	jobs := map[*scenario.Application]*placement.Job{}
	for _, a := range s.Applications {
		pod := s.PodObject(&scenario.Pod{Application: a}, "")
		jobs[a] = &placement.Job{
			Type:     &mix.JobType{Name: a.Name, Vector: vector(a), Weight: cgroup.Flat(pod).Weight},
			Neutral:  math.MaxFloat32, // pods leave when the scenario says so
			Requests: []float64{float64(a.MilliCPU) / 1000, float64(a.MiB << 20)},
		}
	}
	return jobs
}

// mixesOf returns the mixes on nodes of each size.
func mixesOf(s *scenario.Scenario) (map[*scenario.Size]*mix.Mixes, error) {
	classes := map[*scenario.Size]*mix.Mixes{}
	for _, n := range s.Nodes {
		if classes[n.Size] != nil {
			continue
		}
		class := mix.NodeClass{Servers: n.Size.Servers, Processor: scenario.CPU}
		mixes, err := mix.NewMixes(class, queueing.Options{Solver: queueing.FirstOrder})
		if err != nil {
			return nil, fmt.Errorf("nodes of size %s: %w", n.Size.Name, err)
		}
		classes[n.Size] = mixes
	}
	return classes, nil
}

// Place places pods by the policy on nodes that have room for what they request.
func (o *Offline) Place(_ context.Context, step int, at Placement) error {
	for n := range o.nodes {
		o.nodes[n] = o.node(n)
	}
	for i, n := range at {
		if n != Nowhere {
			o.start(i, n)
		}
	}
	undecided := slices.Concat(o.waiting, o.scenario.Coming(step))
	o.waiting = nil
	for _, i := range undecided {
		if o.scenario.Pods[i].Goes <= step {
			continue // it has left without a node
		}
		if at[i] = o.choose(i); at[i] == Nowhere {
			o.waiting = append(o.waiting, i)
		} else {
			o.start(i, at[i])
		}
	}
	for _, mixes := range o.classes {
		if err := mixes.Err(); err != nil {
			return err
		}
	}
	return nil
}

// node returns a node without pods.
func (o *Offline) node(n int) *placement.NodeState {
	size := o.scenario.Nodes[n].Size
	mixes := o.classes[size]
	capacity := []float64{float64(size.Servers[scenario.CPU]), float64(size.MiB << 20)}
	return &placement.NodeState{
		Class: mix.NodeClass{Servers: size.Servers, Processor: scenario.CPU}, Mixes: mixes, Running: mix.NewRunning(mixes),
		Capacity: capacity, Allocatable: capacity, Requested: make([]float64, 2), Requesting: make([]int, 2), Index: n,
	}
}

func (o *Offline) start(pod, node int) {
	o.nodes[node].Start(0, o.jobs[o.scenario.Pods[pod].Application], pod, nil)
}

// choose returns the node for a pod.
func (o *Offline) choose(pod int) int {
	job := o.jobs[o.scenario.Pods[pod].Application]
	var fitting []*placement.NodeState
	for _, n := range o.nodes {
		if n.Fits(job) {
			fitting = append(fitting, n)
		}
	}
	if len(fitting) == 0 {
		return Nowhere
	}
	if chosen := o.policy.Choose(0, job, fitting); chosen >= 0 {
		return fitting[chosen].Index
	}
	return Nowhere
}
