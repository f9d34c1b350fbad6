package comparison

import (
	"context"
	"fmt"
	"slices"

	"loadline.dev/loadline/hack/nodesim"
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
	Placed  float64 `json:"placed"`
	Waiting float64 `json:"waiting"`
	// Nodes is how many nodes have pods, on average over the moments.
	Nodes float64 `json:"nodes"`
	// Simulated is what the simulation says, and Modelled what the model does.
	Simulated Verdict `json:"simulated"`
	Modelled  Verdict `json:"modelled"`
}

// Verdict is what a judge says of a run.
type Verdict struct {
	// Mean, P95 and Worst are of the dilations of the pods that are on nodes, over all moments.
	Mean  float64 `json:"meanDilation"`
	P95   float64 `json:"p95Dilation"`
	Worst float64 `json:"worstDilation"`
	// Violations is how many pods are dilated more than their SLA allows, on average over the moments.
	Violations float64 `json:"violations"`
	// Error is the standard error of the mean. Moments count as one, since much of them is alike.
	Error float64 `json:"standardError"`
}

// Judges judge a run.
type Judges struct{ Simulation, Model Judge }

// NewJudges returns the judges of a scenario.
func NewJudges(s *scenario.Scenario, nodes *nodesim.Judge) Judges {
	return Judges{Simulation: NewSimulation(s, nodes), Model: NewModel(s)}
}

// Outcome is what a run came to.
type Outcome struct {
	Figures
	// Dilations are those of all pods at all moments, by the simulation.
	Dilations []float64
	// First and Last are the placements at the first and the last step.
	First, Last Placement
}

// Run takes a scenario through its steps.
func Run(ctx context.Context, s *scenario.Scenario, placer Placer, judges Judges) (*Outcome, error) {
	o := &Outcome{Last: slices.Repeat(Placement{Nowhere}, len(s.Pods))}
	var simulated, modelled []*Moment
	for step := range s.Steps + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, i := range s.Going(step) {
			o.Last[i] = Nowhere
		}
		if err := placer.Place(ctx, step, o.Last); err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		if step == 0 {
			o.First = slices.Clone(o.Last)
		}
		bySimulation, err := JudgeMoment(judges.Simulation, s, o.Last)
		if err != nil {
			return nil, fmt.Errorf("step %d: simulating: %w", step, err)
		}
		byModel, err := JudgeMoment(judges.Model, s, o.Last)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		simulated, modelled = append(simulated, bySimulation), append(modelled, byModel)
		moments := float64(s.Steps + 1)
		o.Placed += float64(len(byModel.Dilations)) / moments
		o.Waiting += float64(len(s.Present(step))-len(byModel.Dilations)) / moments
		o.Nodes += float64(byModel.Nodes) / moments
		o.Dilations = append(o.Dilations, bySimulation.Dilations...)
	}
	var err error
	if o.Simulated, err = verdictOn(simulated); err != nil {
		return nil, err
	}
	o.Modelled, err = verdictOn(modelled)
	return o, err
}

// verdictOn adds up moments, at least one.
func verdictOn(moments []*Moment) (Verdict, error) {
	var v Verdict
	var dilations []float64
	for _, m := range moments {
		dilations = append(dilations, m.Dilations...)
		v.Violations += float64(m.Violations) / float64(len(moments))
		v.Error += m.Error / float64(len(moments))
	}
	summary, err := chart.Summarize(dilations)
	v.Mean, v.P95, v.Worst = summary.Mean, summary.P95, summary.Max
	return v, err
}
