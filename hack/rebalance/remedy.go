package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/model/placement"
)

// remedy changes a cluster, once an hour.
type remedy interface {
	// act changes the cluster by what gauges saw, and returns how many changes it made and how many pods it disrupted by that.
	act(ctx context.Context, c *cluster, seen *sights, ties *rand.Rand) (acts, error)
}

// acts counts what a remedy did.
type acts struct {
	// Changes are moves and resizes, and Disrupted the pods that had to end and start again.
	Changes   int `json:"changes"`
	Disrupted int `json:"podsDisrupted"`
}

// nothing is the remedy of doing nothing.
type nothing struct{}

func (nothing) act(context.Context, *cluster, *sights, *rand.Rand) (acts, error) { return acts{}, nil }

// loadline is the plan of Loadline, with a limit of changes of some kinds in an hour; 0 is as many as help. Pods that move go where the plan
// says.
type loadline struct {
	budget int
	kinds  []plan.Action
}

func (l *loadline) act(_ context.Context, c *cluster, seen *sights, _ *rand.Rand) (acts, error) {
	filter, err := feasibility.New(&feasibility.Cluster{Nodes: seen.nodes, Pods: seen.pods})
	if err != nil {
		return acts{}, err
	}
	p, err := plan.Make(seen.cluster(), &plan.Options{Max: l.budget, Allow: l.kinds, Feasibility: filter})
	if err != nil {
		return acts{}, err
	}
	var done acts
	for i := range p.Steps {
		step := &p.Steps[i]
		_, name, _ := strings.Cut(step.Pod, "/")
		pod, known := c.pods[name]
		if !known {
			return acts{}, fmt.Errorf("step %d of the plan changes pod %s, which there is not", i+1, step.Pod)
		}
		done.Changes++
		switch {
		case step.Action == plan.MovePod:
			c.at[pod] = c.index[step.To]
			done.Disrupted++
		case step.Request != nil:
			c.milliCPU[pod] = step.Request.MilliValue()
		default:
			return acts{}, fmt.Errorf("step %d of the plan is %s, where no pod has a limit", i+1, step.Action)
		}
	}
	return done, c.overfull()
}

// descheduled is what the descheduler evicts, and where a scheduler places it then.
type descheduled struct {
	descheduler *descheduler
	place       func(c *cluster, evicted []int, ties *rand.Rand) error
}

func (d *descheduled) act(ctx context.Context, c *cluster, seen *sights, ties *rand.Rand) (acts, error) {
	evicted, err := d.descheduler.evict(ctx, c, seen.use)
	if err != nil {
		return acts{}, err
	}
	if err := d.place(c, evicted, ties); err != nil {
		return acts{}, err
	}
	return acts{len(evicted), len(evicted)}, c.overfull()
}

// byKubeScheduler has kube-scheduler place the successors of evicted pods. Those for which there is no room as long as these have not ended
// are placed once they have.
func byKubeScheduler(c *cluster, evicted []int, ties *rand.Rand) error {
	k, err := newKubeScheduler(c, evicted, ties)
	if err != nil {
		return err
	}
	for _, i := range evicted {
		c.at[i] = comparison.Nowhere
	}
	if err := k.place(c, c.waiting()); err != nil {
		return err
	}
	left := c.waiting()
	if len(left) == 0 {
		return nil
	}
	if k, err = newKubeScheduler(c, nil, ties); err != nil {
		return err
	}
	return k.place(c, left)
}

// byLoadline has Loadline's policy of least dilation place the successors of evicted pods by their profiles, once these have ended.
func byLoadline(c *cluster, evicted []int, _ *rand.Rand) error {
	for _, i := range evicted {
		c.at[i] = comparison.Nowhere
	}
	const now = 1 // the step at which they come: the others are there already
	coming := *c.scenario
	coming.Pods = make([]scenario.Pod, len(c.scenario.Pods))
	for i, p := range c.scenario.Pods {
		p.Comes, p.Goes = 0, now+1
		if c.at[i] == comparison.Nowhere {
			p.Comes = now
		}
		coming.Pods[i] = p
	}
	placer, err := comparison.NewOffline(&coming, placement.LeastDilation{}.Name())
	if err != nil {
		return err
	}
	return placer.Place(context.Background(), now, c.at)
}
