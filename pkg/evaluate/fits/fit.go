// Package fits answers what measured co-locations say of the jobs in them: their loading vectors, how well these predict, and the
// profiles that follow from them.
package fits

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/fit"
	"loadline.dev/loadline/pkg/profile"
)

// Input is measured co-locations, and what is known beforehand.
type Input struct {
	Runs []fit.Run
	// Options are the fit's; its Beliefs are added to by Declared.
	Options fit.Options
	// Declared are profiles whose vectors the fit is pulled towards, by the
	// names of the jobs. They need named resources.
	Declared []v1alpha1.WorkloadProfile
	// Form is one of [Forms], how dilations follow from the vectors; empty is the first.
	Form string
	// LearningCurve asks for one, which takes about as long as all else.
	LearningCurve bool
	// Progress, if it is set, is called now and then with what is being done and which share of that is, from 0 to 1.
	Progress func(doing string, done float64)
}

// FormAuto is the form that predicts unseen runs best.
const FormAuto = "auto"

// Forms returns how dilations may follow from vectors.
func Forms() []string {
	forms := []string{FormAuto}
	for _, p := range fit.Predictors() {
		forms = append(forms, formOf(p))
	}
	return forms
}

func formOf(p fit.Predictor) string { return strings.ReplaceAll(p.Name(), " ", "-") }

// predictorsOf returns the predictors of a form, nil for all.
func predictorsOf(form string) ([]fit.Predictor, error) {
	if form == "" || form == FormAuto {
		return nil, nil
	}
	for _, p := range fit.Predictors() {
		if formOf(p) == form {
			return []fit.Predictor{p}, nil
		}
	}
	return nil, fmt.Errorf("form: %q is not one of %s", form, strings.Join(Forms(), ", "))
}

// Answer is what was learnt, and how well it predicts.
type Answer struct {
	// Resources are the names of the components of the jobs' vectors. Hidden
	// ones were found, not given, and have no meaning of their own.
	Resources []string `json:"resources"`
	Hidden    bool     `json:"hidden"`
	// LargestRun is how many jobs the largest run had. Of larger groups nothing was seen.
	LargestRun int `json:"largestRun"`
	// Solver is how dilations follow from the vectors. Symmetric says that
	// pressures equal sensitivities.
	Solver    string `json:"solver"`
	Symmetric bool   `json:"symmetric"`
	// Baselines says that alone times were fitted, because unseen runs are then
	// predicted better. Vectors and dilations are over the true alone times.
	Baselines bool `json:"baselines"`
	// Confidence is the coverage of the intervals.
	Confidence float64 `json:"confidence"`
	// Correction is absent where dilations are those of the vectors.
	Correction *Correction `json:"correction,omitempty"`
	Jobs       []Job       `json:"jobs"`
	// Pairs holds the dilation of each job beside each other one and a copy of itself, over its true alone time: [slowed
	// job][because of job], in the order of Jobs. It is absent for more than 200 jobs.
	Pairs   [][]float64 `json:"pairs,omitempty"`
	Quality Quality     `json:"quality"`
	// Profiles says what profiles of the fit cannot hold of it, absent where none were asked for.
	Profiles *ProfileLoss `json:"profiles,omitempty"`
	// HoldOut is absent where there are too few runs to leave some out.
	HoldOut *HoldOut `json:"holdOut,omitempty"`
	// Warnings are sentences: about the input, outliers, contradictions,
	// and what the runs do not determine.
	Warnings []Warning `json:"doubts"`

	result *fit.Result
	points []fit.Point
}

// Correction says that predicted dilations are those of the vectors, corrected by what these leave unexplained of similar
// pairs of jobs, and by crossed effects of the jobs.
type Correction struct {
	// Similar says that similar pairs count. Effects is the part of crossed effects in the logarithm of a dilation, from 0 to 1.
	Similar bool    `json:"similar"`
	Effects float64 `json:"effects"`
	// Names says that names which differ in their last number only are taken for those of one family of jobs.
	Names bool `json:"names"`
	// MeanError is that on runs left out when the model was chosen, and Without the one by the vectors alone.
	MeanError float64 `json:"meanError"`
	Without   float64 `json:"without"`
}

// Job is the vector of one job.
type Job struct {
	Name        string     `json:"name"`
	Sensitivity []Interval `json:"sensitivity"`
	Pressure    []Interval `json:"pressure"`
	// Baseline is the true alone time over the stated one, where alone times were
	// fitted.
	Baseline *Interval `json:"baseline,omitempty"`
	// Dilated and Dilates are the mean dilation of the job beside each other job,
	// and of each other job beside it, absent where there is no other job.
	Dilated *Interval `json:"dilated,omitempty"`
	Dilates *Interval `json:"dilates,omitempty"`
	// Measured counts the dilations of the job that were measured in company.
	Measured int `json:"measured"`
}

// Interval is a value and its confidence interval. Where that is not known, Low
// and High are null, and Unknown says why.
type Interval struct {
	Value   float64  `json:"value"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Unknown string   `json:"unknown,omitempty"`
}

// Quality says how well the fit agrees with what it was made from. Errors are
// relative.
type Quality struct {
	Runs         int     `json:"runs"`
	Observations int     `json:"observations"`
	Unknowns     int     `json:"unknowns"`
	MeanError    float64 `json:"meanError"`
	P90Error     float64 `json:"p90Error"`
	Noise        float64 `json:"noise"`
}

// HoldOut says how well models predict runs that they have not seen.
type HoldOut struct {
	Folds  int          `json:"folds"`
	Models []ModelError `json:"models"`
	// LearningCurve is the error of our model by how many runs it knows.
	LearningCurve []Learnt `json:"learningCurve,omitempty"`
}

// Learnt is the relative error on all other runs of a model that knows a share of
// them.
type Learnt struct {
	Share float64 `json:"share"`
	Runs  int     `json:"runs"`
	ModelError
}

// ModelError is the relative error of one model on runs that it has not seen.
type ModelError struct {
	Model      string  `json:"model"`
	MeanError  float64 `json:"meanError"`
	P90Error   float64 `json:"p90Error"`
	WorstError float64 `json:"worstError"`
	Count      int     `json:"count"`
}

// Warning is something to know before one relies on a fit.
type Warning struct {
	// Kind is WrongAlone, Outlier, Contradiction or Unidentified.
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// Fit learns vectors from measured co-locations and says how well they predict.
func Fit(in Input) (*Answer, error) {
	options := in.Options
	if options.Weight == nil {
		options.Weight = weightOf
	}
	beliefs, err := declaredBeliefs(in.Declared, options.Resources)
	if err != nil {
		return nil, err
	}
	maps.Copy(beliefs, options.Beliefs)
	options.Beliefs = beliefs
	if in.Form != "" {
		if options.Predictors, err = predictorsOf(in.Form); err != nil {
			return nil, err
		}
	}
	result, err := fit.Fit(in.Runs, in.telling(options, "choosing a model"))
	if err != nil {
		return nil, err
	}
	answer := &Answer{
		Resources: result.Resources, Hidden: result.Hidden, LargestRun: result.Largest, Solver: result.Solver, Symmetric: result.Symmetric, Baselines: result.Baselines,
		Confidence: options.Confidence, Jobs: fittedJobs(result), Warnings: warnings(result), result: result,
		Quality: Quality{
			Runs: result.Quality.Runs, Observations: result.Quality.Observations, Unknowns: result.Quality.Unknowns,
			MeanError: result.Quality.Mean, P90Error: result.Quality.P90, Noise: result.Quality.Noise,
		},
	}
	if len(result.Jobs) <= mostPaired {
		answer.Pairs = result.Pairs()
	}
	if c := result.Correction; c != nil {
		answer.Correction = &Correction{Similar: c.Similar, Effects: c.Effects, Names: c.Names, MeanError: c.Error, Without: c.Without}
	}
	if answer.Confidence == 0 {
		answer.Confidence = fit.DefaultConfidence
	}
	holdOut, err := fit.CrossValidate(in.Runs, in.telling(options, "predicting runs left out"))
	if errors.Is(err, fit.ErrTooFewRuns) {
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	answer.points = holdOut.Points
	answer.HoldOut = &HoldOut{Folds: holdOut.Folds}
	for _, m := range holdOut.Models {
		answer.HoldOut.Models = append(answer.HoldOut.Models, modelError(m))
	}
	if !in.LearningCurve {
		return answer, nil
	}
	curve, err := fit.LearningCurve(in.Runs, in.telling(options, "learning from a share of the runs"))
	if err != nil && !errors.Is(err, fit.ErrTooFewRuns) {
		return nil, err
	}
	for _, l := range curve {
		answer.HoldOut.LearningCurve = append(answer.HoldOut.LearningCurve, Learnt{l.Share, l.Runs, modelError(l.ModelError)})
	}
	return answer, nil
}

// mostPaired is up to how many jobs an answer holds the dilations of their pairs.
const mostPaired = 200

// telling returns options whose progress is that of a part of the work.
func (in *Input) telling(options fit.Options, doing string) fit.Options {
	if in.Progress != nil {
		options.Progress = func(done float64) { in.Progress(doing, done) }
	}
	return options
}

// weightOf returns the weight of a pod that requests so many cores, on cgroup v2.
func weightOf(request float64) float64 {
	return float64(cgroup.Linear.Weight(cgroup.Shares(int64(math.Ceil(request*1000 - rounding)))))
}

// rounding is how far a request may be above whole thousandths for lack of digits.
const rounding = 1e-6

func modelError(m fit.ModelError) ModelError {
	return ModelError{Model: m.Model, MeanError: m.Mean, P90Error: m.P90, WorstError: m.Worst, Count: m.Count}
}

// Points returns every measured dilation beside what the model, not having seen
// its run, predicts for it.
func (a *Answer) Points() []fit.Point { return a.points }

// Pairwise returns the dilation of each job beside each other one: [slowed
// job][because of job], in the order of Jobs.
func (a *Answer) Pairwise() [][]float64 {
	if a.Pairs != nil {
		return a.Pairs
	}
	return a.result.Pairs()
}

// declaredBeliefs returns the vectors of declared profiles at the named
// resources.
func declaredBeliefs(declared []v1alpha1.WorkloadProfile, resources []string) (map[string]fit.Belief, error) {
	all := make(map[string]fit.Belief, len(declared))
	if len(declared) > 0 && len(resources) == 0 {
		return nil, errors.New("declared profiles need named resources: hidden ones have no meaning before the fit")
	}
	place := make(map[string]int, len(resources))
	for i, name := range resources {
		place[name] = i
	}
	known := profile.NewResources(nil, resources...)
	for i := range declared {
		w, errs := profile.NewWorkload(&declared[i], known)
		if len(errs) > 0 {
			return nil, fmt.Errorf("profile %s: %w", declared[i].Name, errs.ToAggregate())
		}
		v := w.On(profile.AnyClass)
		if v == nil {
			return nil, fmt.Errorf("profile %s: %w", w.Name, profile.ErrNoVector)
		}
		belief := fit.Belief{Sensitivity: make([]float64, len(resources)), Pressure: make([]float64, len(resources))}
		for _, d := range v.Demands {
			if d.Effect != nil {
				continue // a fit is of what has a queue
			}
			r, ok := place[d.Resource]
			if !ok {
				return nil, fmt.Errorf("profile %s: resource %q is not among the resources of the fit", w.Name, d.Resource)
			}
			belief.Sensitivity[r], belief.Pressure[r] = cmp.Or(d.Sensitivity, d.Loading), d.Pressure
		}
		if _, again := all[w.Name]; again {
			return nil, fmt.Errorf("profile %s: is declared twice", w.Name)
		}
		all[w.Name] = belief
	}
	return all, nil
}

func fittedJobs(result *fit.Result) []Job {
	jobs := make([]Job, len(result.Jobs))
	for i, j := range result.Jobs {
		jobs[i] = Job{
			Name: j.Name, Measured: j.Measured, Sensitivity: intervals(j.Sensitivity), Pressure: intervals(j.Pressure),
			Dilated: mean(j.Dilated), Dilates: mean(j.Dilates),
		}
		if result.Baselines {
			baseline := interval(j.Baseline)
			jobs[i].Baseline = &baseline
		}
	}
	return jobs
}

// mean returns a mean over other jobs, nil where there are none.
func mean(e *fit.Estimate) *Interval {
	if e == nil {
		return nil
	}
	return new(interval(*e))
}

func intervals(estimates []fit.Estimate) []Interval {
	all := make([]Interval, len(estimates))
	for i, e := range estimates {
		all[i] = interval(e)
	}
	return all
}

// Unknown returns the reasons why intervals of the answer are not known, each once.
func (a *Answer) Unknown() []string {
	var reasons []string
	for _, j := range a.Jobs {
		all := slices.Concat(j.Sensitivity, j.Pressure)
		for _, m := range []*Interval{j.Dilated, j.Dilates, j.Baseline} {
			if m != nil {
				all = append(all, *m)
			}
		}
		for _, i := range all {
			if i.Unknown != "" && !slices.Contains(reasons, i.Unknown) {
				reasons = append(reasons, i.Unknown)
			}
		}
	}
	return reasons
}

func interval(e fit.Estimate) Interval {
	if e.Unknown != "" {
		return Interval{Value: e.Value, Unknown: e.Unknown}
	}
	return Interval{Value: e.Value, Low: &e.Low, High: &e.High}
}

func warnings(result *fit.Result) []Warning {
	all := []Warning{}
	for _, w := range result.WrongAlone {
		all = append(all, Warning{"WrongAlone", w.String()})
	}
	for _, o := range result.Outliers {
		all = append(all, Warning{"Outlier", o.String()})
	}
	for _, c := range result.Contradictions {
		all = append(all, Warning{"Contradiction", c.String()})
	}
	for _, u := range result.Unidentified {
		all = append(all, Warning{"Unidentified", u.String()})
	}
	return all
}
