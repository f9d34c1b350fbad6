package main

import (
	"fmt"
	"math/rand/v2"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/pkg/model/arrivals"
)

// found is what a search found at the end of a run.
type found struct {
	From    string `json:"from"`
	Changes int    `json:"changes"`
	// Before and After are mean dilations by the model, in which the search believes, and the others by the simulation.
	Before          float64 `json:"modelledDilation"`
	After           float64 `json:"modelledDilationAfter"`
	SimulatedBefore float64 `json:"simulatedDilation"`
	SimulatedAfter  float64 `json:"simulatedDilationAfter"`
}

// String says it in a line.
func (f *found) String() string {
	return fmt.Sprintf("At the end of seed 1 pods placed by %s are dilated %.4f× on average. "+
		"%d moves and swaps of pods lower that to %.4f×; by the model, with which they are found, from %.4f× to %.4f×.",
		f.From, f.SimulatedBefore, f.Changes, f.SimulatedAfter, f.Before, f.After)
}

// searchStream is that of the order in which a search tries.
const searchStream arrivals.Stream = 301

// improve searches for a better placement than the best at the end of a run.
func (of *seed) improve() error {
	best := 0
	for i, o := range of.outcomes {
		if o.Simulated.Mean < of.outcomes[best].Simulated.Mean {
			best = i
		}
	}
	f, from := &found{From: of.names[best]}, of.outcomes[best].Last
	of.progress.Step("seed %d: searching for a better placement than that of %s", of.Seed, f.From)
	better, changes, err := comparison.Search(of.scenario, of.judges.Model, from, comparison.SearchOptions{
		Width: 5, Trials: of.search, Rand: rand.New(arrivals.Source(of.Seed, searchStream)),
	})
	if err != nil {
		return err
	}
	f.Changes = changes
	for _, mean := range []struct {
		of    *float64
		judge comparison.Judge
		at    comparison.Placement
	}{
		{&f.Before, of.judges.Model, from},
		{&f.After, of.judges.Model, better},
		{&f.SimulatedBefore, of.judges.Simulation, from},
		{&f.SimulatedAfter, of.judges.Simulation, better},
	} {
		m, err := comparison.JudgeMoment(mean.judge, of.scenario, mean.at)
		if err != nil {
			return err
		}
		*mean.of = m.Mean()
	}
	of.found = f
	return nil
}
