package comparison

import (
	"context"
	"fmt"
	"slices"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/report/chart"
)

// Placement holds, for each pod of a scenario, the index of its node, or [Nowhere].
type Placement []int

// Nowhere is where a pod is that has not come, has left, or waits for a node.
const Nowhere = -1

// Placer places the pods of a scenario.
type Placer interface {
	// Place lets the pods go that leave at the beginning of a step, and finds nodes for those that come then, and for those that
	// wait. Steps come in order, from 0. The placement is that of the step before, but for the pods that leave, and
	// becomes that of this step.
	Place(ctx context.Context, step int, at Placement) error
}

// Figures are what is compared of a run. Moments are the steps, each of which counts the same.
type Figures struct {
	// Placed and Waiting are numbers of pods, on average over the moments.
	Placed, Waiting float64
	// Nodes is how many nodes have pods, on average over the moments.
	Nodes float64
	// Mean, P95 and Worst are of the dilations of the pods that are on nodes, over all moments.
	Mean, P95, Worst float64
	// Violations is how many pods are dilated more than their SLA allows, on average over the moments.
	Violations float64
}

// Outcome is what a run came to.
type Outcome struct {
	Figures
	// Dilations are those of all pods at all moments.
	Dilations []float64
	// Last is the placement at the last step.
	Last Placement
}

// Run takes a scenario through its steps.
func Run(ctx context.Context, s *scenario.Scenario, placer Placer, judge *Judge) (*Outcome, error) {
	o := &Outcome{Last: slices.Repeat(Placement{Nowhere}, len(s.Pods))}
	moments := float64(s.Steps + 1)
	for step := range s.Steps + 1 {
		for _, i := range s.Going(step) {
			o.Last[i] = Nowhere
		}
		if err := placer.Place(ctx, step, o.Last); err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		m, err := judge.Moment(o.Last)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		o.Dilations = append(o.Dilations, m.Dilations...)
		o.Placed += float64(len(m.Dilations)) / moments
		o.Waiting += float64(len(s.Present(step))-len(m.Dilations)) / moments
		o.Nodes += float64(m.Nodes) / moments
		o.Violations += float64(m.Violations) / moments
	}
	summary, err := chart.Summarize(o.Dilations)
	if err != nil {
		return nil, err
	}
	o.Mean, o.P95, o.Worst = summary.Mean, summary.P95, summary.Max
	return o, nil
}
