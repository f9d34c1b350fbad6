package fit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// HoldOut says how well models predict runs that they have not seen.
type HoldOut struct {
	// Folds is the number of parts that the runs were divided into.
	Folds int
	// Models holds one entry per model, ours first.
	Models []ModelError
	// Points holds every measured dilation beside what our model, not having
	// seen its run, predicted for it.
	Points []Point
}

// ModelError is the error of one model on runs that it has not seen.
type ModelError struct {
	Model string
	// Mean, P90 and Worst are of the absolute relative error |λ̂ − λ|/λ.
	Mean, P90, Worst float64
	// Count is the number of dilations predicted.
	Count int
	// Predictions are the dilations that it predicted, in the order of
	// [HoldOut.Points]; nil along a learning curve.
	Predictions []float64
}

// Point is a measured dilation and its prediction.
type Point struct {
	Run, Job            string
	Measured, Predicted float64
}

// ErrTooFewRuns is wrapped by the error of [CrossValidate] when there are too
// few runs to leave some out.
var ErrTooFewRuns = errors.New("too few to leave some out")

// CrossValidate divides the runs at random into [Options.Folds] parts, predicts
// each from the others, and returns the errors of
//
//   - our model, chosen and fitted anew for each part;
//   - the D-factor, λ_j = 1 + p_j·Σ p_k, in as many hidden resources as predict
//     best and free of the bound Σ p ≤ 1, which flatters it;
//   - the linear sum, λ = the number of jobs;
//   - a constant, the median dilation.
//
// At least two runs with a measured dilation in company are needed, or the error
// wraps [ErrTooFewRuns].
func CrossValidate(runs []Run, options Options) (HoldOut, error) {
	p, base, o, err := prepare(runs, options)
	if err != nil {
		return HoldOut{}, err
	}
	p = newProblem(p.table, informative(p))
	random := rand.New(rand.NewPCG(o.Seed, 1))
	folds := foldsOf(p, o.Folds, random)
	if len(folds) == 0 {
		return HoldOut{}, fmt.Errorf("runs: %d with a measured dilation in company are %w; at least 2 are needed", len(p.use), ErrTooFewRuns)
	}
	result := HoldOut{Folds: len(folds)}
	done := 0.0
	for _, m := range models(base) {
		var errs, predictions []float64
		for _, f := range folds {
			part := m.work / float64(len(folds))
			predict := m.train(f.train, o.portion(done, done+part), random)
			done += part
			for _, s := range f.test.samples {
				predicted := predict(s)
				predictions = append(predictions, predicted)
				errs = append(errs, math.Abs(predicted/s.dilation-1))
				if len(result.Models) == 0 {
					result.Points = append(result.Points, Point{p.runs[s.run].Name, p.jobs[s.job], s.dilation, predicted})
				}
			}
		}
		e := modelError(m.name, errs)
		e.Predictions = predictions
		result.Models = append(result.Models, e)
	}
	return result, nil
}

// learningShares are the shares of the runs that are known along a learning curve,
// and learningDraws how many sets of that many runs are drawn.
var learningShares = []float64{0.1, 0.2, 0.4, 0.6, 0.8}

const learningDraws = 3

// Learnt is the error of our model on all other runs when it is fitted to a share of them.
type Learnt struct {
	Share float64 // of the runs with a measured dilation in company
	Runs  int     // how many these are
	ModelError
}

// LearningCurve returns how well our model, chosen and fitted from 10, 20, 40, 60
// and 80 % of the runs, predicts the rest, over three random draws of each. Shares
// that come to fewer than two runs, or leave none out, are omitted; with fewer
// than three runs the error wraps [ErrTooFewRuns].
func LearningCurve(runs []Run, options Options) ([]Learnt, error) {
	p, base, o, err := prepare(runs, options)
	if err != nil {
		return nil, err
	}
	all := informative(p)
	if len(all) < 3 {
		return nil, fmt.Errorf("runs: %d with a measured dilation in company are %w; at least 3 are needed for a learning curve", len(all), ErrTooFewRuns)
	}
	random := rand.New(rand.NewPCG(o.Seed, 2))
	ours := models(base)[0]
	var curve []Learnt
	part := 1 / float64(len(learningShares)*learningDraws)
	for at, share := range learningShares {
		known := int(math.Round(share * float64(len(all))))
		if known < 2 || known == len(all) {
			continue
		}
		var errs []float64
		for draw := range learningDraws {
			random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
			done := part * float64(at*learningDraws+draw)
			predict := ours.train(newProblem(p.table, slices.Sorted(slices.Values(all[:known]))), o.portion(done, done+part), random)
			for _, s := range newProblem(p.table, all[known:]).samples {
				errs = append(errs, math.Abs(predict(s)/s.dilation-1))
			}
		}
		curve = append(curve, Learnt{share, known, modelError(ours.name, errs)})
	}
	return curve, nil
}

// informative returns the runs that have a sample.
func informative(p *problem) []int {
	var runs []int
	for _, s := range p.samples {
		if len(runs) == 0 || runs[len(runs)-1] != s.run {
			runs = append(runs, s.run)
		}
	}
	return runs
}

func modelError(name string, errs []float64) ModelError {
	slices.Sort(errs)
	return ModelError{
		Model: name, Count: len(errs), Mean: sum(errs) / float64(len(errs)),
		P90: quantile(errs, 0.9), Worst: errs[len(errs)-1],
	}
}

// quantile returns the smallest of the sorted values that at least that share
// of them does not exceed.
func quantile(sorted []float64, share float64) float64 {
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// model is a way to predict dilations from a set of runs.
type model struct {
	name string
	work float64 // roughly which share of the work of cross-validation it is
	// train learns from a problem; the progress of the options is that of this part of the work.
	train func(p *problem, o Options, random *rand.Rand) func(sample) float64
}

func models(base settings) []model {
	symmetric := base
	symmetric.tied, symmetric.fractions, symmetric.beliefs = true, false, nil
	return []model{
		{"sensitivity · pressure", 0.85, func(p *problem, o Options, random *rand.Rand) func(sample) float64 { return learn(p, base, o, random) }},
		{"D-factor", 0.15, func(p *problem, o Options, random *rand.Rand) func(sample) float64 {
			o.Resources, o.Predictors = nil, []Predictor{FirstOrder{}}
			return learn(p, symmetric, o, random)
		}},
		{"linear sum", 0, func(p *problem, _ Options, _ *rand.Rand) func(sample) float64 {
			return func(s sample) float64 { return float64(len(p.members[s.run])) }
		}},
		{"constant", 0, func(p *problem, _ Options, _ *rand.Rand) func(sample) float64 {
			seen := make([]float64, len(p.samples))
			for i, s := range p.samples {
				seen[i] = s.dilation
			}
			slices.Sort(seen)
			median := quantile(seen, 0.5)
			return func(sample) float64 { return median }
		}},
	}
}

// learn chooses and fits a model.
func learn(p *problem, base settings, o Options, random *rand.Rand) func(sample) float64 {
	choice := choose(p, base, o.portion(0, choosing), random)
	c := choice.best()
	f := train(p, c, o, full(), random)
	var corrected *correction
	if !base.tied {
		corrected = chooseCorrection(p, choice, o).fit(p, f, o, apart(o))
	}
	return func(s sample) float64 {
		change := 0.0
		if corrected != nil {
			change = corrected.change(rival{f, c.settings.predictor}, p.members[s.run], s.member)
		}
		return f.baseline[s.job] * f.dilationsIn(p.table, s.run, c.settings.predictor)[s.member] * math.Exp(change)
	}
}

// apart returns random numbers for the models of a correction, so that those of the
// models beside it are the same with and without one.
func apart(o Options) *rand.Rand { return rand.New(rand.NewPCG(o.Seed, 3)) }

// dilations returns a predictor's dilations of jobs on one node.
func (f *factors) dilations(members []int, predictor Predictor) []float64 {
	sensitivity, pressure := f.of(members)
	dilations := make([]float64, len(members))
	predictor.Dilations(sensitivity, pressure, dilations)
	return dilations
}

// dilationsIn returns a predictor's dilations of the jobs of a run, with the effect of weights and
// limits.
func (f *factors) dilationsIn(t *table, run int, predictor Predictor) []float64 {
	dilations := f.dilations(t.members[run], predictor)
	sensitivity, pressure := f.of(t.members[run])
	for a, factor := range t.weighing.factors(run, sensitivity, pressure, fine) {
		dilations[a] = 1 + (dilations[a]-1)*factor
	}
	return dilations
}

// of returns the sensitivities and pressures of some jobs.
func (f *factors) of(members []int) (sensitivity, pressure [][]float64) {
	for _, job := range members {
		sensitivity, pressure = append(sensitivity, f.sensitivityOf(job)), append(pressure, f.pressureOf(job))
	}
	return sensitivity, pressure
}
