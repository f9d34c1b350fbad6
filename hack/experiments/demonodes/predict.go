package main

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
)

// ran is a job that ran beside others.
type ran struct {
	start, neutral, elapsed float64 // seconds
	vector                  contention.Vector
}

// dilation is how many times longer it took than alone.
func (r ran) dilation() float64 { return r.elapsed / r.neutral }

// predictor predicts when jobs that share a node end.
type predictor struct {
	name string
	ends func(runs []contention.Run, servers []int) ([]float64, error)
}

// predictors are those that are compared, ours first.
func predictors() []predictor {
	return []predictor{
		{"Loadline", func(runs []contention.Run, servers []int) ([]float64, error) {
			return contention.CompletionsBy(runs, servers, queueing.Options{})
		}},
		// As the paper has it: each resource serves one at a time, and a job is in the way
		// of others as much as they are in its.
		{"D-factor", func(runs []contention.Run, servers []int) ([]float64, error) {
			ones := make([]int, len(servers))
			for i := range ones {
				ones[i] = 1
			}
			return contention.Completions(revised(runs, func(v contention.Vector) contention.Vector {
				same := make([]float64, len(v))
				for i := range v {
					same[i] = v[i].Loading
				}
				return contention.Loadings(same...)
			}), ones)
		}},
		// As if the node were one resource that every job keeps busy.
		{"linear sum", func(runs []contention.Run, _ []int) ([]float64, error) {
			return contention.Completions(revised(runs, func(contention.Vector) contention.Vector { return contention.Loadings(1) }), []int{1})
		}},
	}
}

// revised returns the runs with other vectors.
func revised(runs []contention.Run, vector func(contention.Vector) contention.Vector) []contention.Run {
	other := make([]contention.Run, len(runs))
	for i, r := range runs {
		other[i] = contention.Run{Start: r.Start, Neutral: r.Neutral, Vector: vector(r.Vector)}
	}
	return other
}

// predict returns the dilations of jobs that shared a node, given when each of them
// really started.
func (p predictor) predict(jobs []ran, servers []int) ([]float64, error) {
	runs := make([]contention.Run, len(jobs))
	for i, j := range jobs {
		runs[i] = contention.Run{Start: j.start, Neutral: j.neutral, Vector: j.vector}
	}
	ends, err := p.ends(runs, servers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	dilations := make([]float64, len(jobs))
	for i, j := range jobs {
		dilations[i] = (ends[i] - j.start) / j.neutral
	}
	return dilations, nil
}
