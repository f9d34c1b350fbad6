// Package compare compares how slow jobs were that ran together with what is predicted from their measured vectors.
package compare

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Ran is a job that ran beside others.
type Ran struct {
	Start, Neutral, Elapsed float64 // seconds
	Vector                  loading.Vector
}

// Dilation is how many times longer it took than alone.
func (r Ran) Dilation() float64 { return r.Elapsed / r.Neutral }

// Ends predicts when jobs end that share a node, given when each of them really started.
func Ends(jobs []Ran, servers []int) ([]float64, error) {
	return mix.CompletionsBy(revised(jobs, func(v loading.Vector) loading.Vector { return v }), servers, queueing.Options{})
}

// predictor predicts when jobs that share a node end.
type predictor struct {
	name string
	ends func(jobs []Ran, servers []int) ([]float64, error)
}

// predictors are those that are compared, ours first.
func predictors() []predictor {
	return []predictor{
		{"Loadline", Ends},
		// As the paper has it: each resource serves one at a time, and a job is in the way
		// of others as much as they are in its.
		{"D-factor", func(jobs []Ran, servers []int) ([]float64, error) {
			ones := make([]int, len(servers))
			for i := range ones {
				ones[i] = 1
			}
			return mix.Completions(revised(jobs, func(v loading.Vector) loading.Vector {
				same := make([]float64, len(v))
				for i := range v {
					same[i] = v[i].Loading
				}
				return loading.Loadings(same...)
			}), ones)
		}},
		// As if the node were one resource that every job keeps busy.
		{"linear sum", func(jobs []Ran, _ []int) ([]float64, error) {
			return mix.Completions(revised(jobs, func(loading.Vector) loading.Vector { return loading.Loadings(1) }), []int{1})
		}},
	}
}

// revised returns the runs with other vectors.
func revised(jobs []Ran, vector func(loading.Vector) loading.Vector) []mix.Run {
	runs := make([]mix.Run, len(jobs))
	for i, j := range jobs {
		runs[i] = mix.Run{Start: j.Start, Neutral: j.Neutral, Vector: vector(j.Vector)}
	}
	return runs
}

// predict returns the dilations of jobs that shared a node, given when each of them
// really started.
func (p predictor) predict(jobs []Ran, servers []int) ([]float64, error) {
	ends, err := p.ends(jobs, servers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	dilations := make([]float64, len(jobs))
	for i, j := range jobs {
		dilations[i] = (ends[i] - j.Start) / j.Neutral
	}
	return dilations, nil
}
