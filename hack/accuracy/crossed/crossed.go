// Package crossed predicts how much jobs slow down beside stressors that they were
// not measured with, from those that they were.
//
// It takes a table with gaps, jobs by stressors, of dilations or inflations of
// service, and where each stressor presses: at the core, in the caches of the
// core, in those of the socket. It is for few observations of each job, where the
// vectors of package fit have as many unknowns as there are observations. The
// model has crossed random effects (Searle, Casella and McCulloch, Variance
// Components, 1992, chapter 7): a mean, an effect of the job, one of the stressor,
// and one of the job at each domain,
//
//	log λ_js = μ + a_j + b_s + Σ_{d of s} c_jd + ε_js
//
// all normal. Predictions are the best linear unbiased ones: a job of few
// observations is drawn towards the average job, and what one stressor of a domain
// did to it is expected of the others there.
//
// It is pure: it reads no files, and the same input gives the same answer.
package crossed

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Observation is how much slower a job was beside a stressor than alone.
type Observation struct {
	Job, Stressor string
	// Dilation is the time beside it over the time alone, above 0: of the clock, or
	// of the processor, which is the inflation of service.
	Dilation float64
}

// maxObservations bounds the time of a fit, which grows with their third power.
const maxObservations = 1000

// Variances of the effects over that of the noise. An effect counts as much as one
// observation says of it; the mean is as good as unknown.
const (
	effect = 1.0
	flat   = 1e3
)

// Model predicts dilations beside stressors.
type Model struct {
	observations []Observation
	domains      map[string][]string
	weights      []float64 // per observation
}

// Fit learns from observations. Domains holds, by stressor, where it presses, each
// domain once; a stressor that is not in it presses nowhere in particular. It takes
// O(observations³) time.
//
// An error names an observation with a dilation that is not a finite number above
// 0, or without a name, or says that there are none or more than 1,000.
func Fit(observations []Observation, domains map[string][]string) (*Model, error) {
	n := len(observations)
	if n == 0 {
		return nil, errors.New("observations: there are none")
	}
	if n > maxObservations {
		return nil, fmt.Errorf("observations: %d are more than %d", n, maxObservations)
	}
	m := &Model{observations: slices.Clone(observations), domains: domains, weights: make([]float64, n)}
	logs := mat.NewVecDense(n, nil)
	covariance := mat.NewSymDense(n, nil)
	for i, a := range observations {
		if a.Job == "" || a.Stressor == "" {
			return nil, fmt.Errorf("observations[%d]: job %q, stressor %q: a name is empty", i, a.Job, a.Stressor)
		}
		if !(a.Dilation > 0) || math.IsInf(a.Dilation, 1) {
			return nil, fmt.Errorf("observations[%d]: dilation: %v is not a finite number above 0", i, a.Dilation)
		}
		logs.SetVec(i, math.Log(a.Dilation))
		for k, b := range observations[:i+1] {
			covariance.SetSym(i, k, m.covariance(a, b))
		}
		covariance.SetSym(i, i, covariance.At(i, i)+1)
	}
	var factor mat.Cholesky
	if !factor.Factorize(covariance) {
		return nil, errors.New("domains: the covariance of the observations is not positive definite")
	}
	if err := factor.SolveVecTo(mat.NewVecDense(n, m.weights), logs); err != nil {
		return nil, fmt.Errorf("observations: %w", err)
	}
	return m, nil
}

// covariance returns that of the logarithms of two dilations, noise aside.
func (m *Model) covariance(a, b Observation) float64 {
	total := flat
	if a.Stressor == b.Stressor {
		total += effect
	}
	if a.Job != b.Job {
		return total
	}
	total += effect
	for _, domain := range m.domains[a.Stressor] {
		if slices.Contains(m.domains[b.Stressor], domain) {
			total += effect
		}
	}
	return total
}

// Predict returns the dilation of a job beside a stressor, at least 1. Of a job or a
// stressor that was not observed it is that of the average one.
func (m *Model) Predict(job, stressor string) float64 {
	asked := Observation{Job: job, Stressor: stressor}
	log := 0.0
	for i, known := range m.observations {
		log += m.weights[i] * m.covariance(asked, known)
	}
	return max(1, math.Exp(log))
}
