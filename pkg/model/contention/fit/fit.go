package fit

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"loadline.dev/loadline/pkg/model/contention"
)

// Estimate is a fitted value and its confidence interval. How it is computed
// is said at [Result].
type Estimate struct {
	Value, Low, High float64
}

// Job is what was learnt of one job.
type Job struct {
	Name string
	// Sensitivity and Pressure are at each of the resources.
	Sensitivity, Pressure []Estimate
	// Measured counts the dilations of the job measured in company, and Beside
	// the measured dilations of others that it may have caused.
	Measured, Beside int
}

// Quality says how well a fit agrees with the observations it was made from.
// How well it predicts others is what [CrossValidate] answers.
type Quality struct {
	// Runs and Observations count the runs with a measured dilation in company,
	// and those dilations. Unknowns counts the free numbers that were fitted to
	// them.
	Runs, Observations, Unknowns int
	// Mean, P90 and Worst are of the absolute relative error |λ̂ − λ|/λ.
	Mean, P90, Worst float64
	// Noise is the standard deviation of the relative error of an observation
	// that is no outlier.
	Noise float64
}

// Result is what [Fit] learnt.
//
// Confidence intervals are asymptotic: the fit is linearized where it is, the
// pull towards beliefs or the average job counts as information, and the noise
// is that of the residuals, robustly. Those of dilations cover as stated where
// the model is right. Those of sensitivities and pressures at hidden resources
// are for resources aligned with the ones found: hidden resources can be mixed
// and scaled without changing any dilation, and that freedom is not in them.
type Result struct {
	// Resources names the resources; Hidden says that they were found rather
	// than given, as r1, r2, …, in decreasing order of the contention there.
	Resources []string
	Hidden    bool
	// Jobs holds every job that appears in a run or in the beliefs, by name.
	Jobs []Job
	// Solver is the name of the [Predictor] chosen. Symmetric says that pressures
	// equal to sensitivities, the D-factor, predict as well as free ones.
	Solver    string
	Symmetric bool
	// Candidates are the models that cross-validation compared, and Chosen is
	// the place of the one that was fitted.
	Candidates []Candidate
	Chosen     int
	Quality    Quality
	// Outliers, Contradictions and Unidentified say what to doubt.
	Outliers       []Outlier
	Contradictions []Contradiction
	Unidentified   []Unidentified

	table     *table
	factors   *factors
	predictor Predictor
	index     map[string]int
	spread    *covariance
	quantile  float64
}

// ErrNothingMeasured is returned by [Fit] when no run has a measured dilation
// of a job that was not alone.
var ErrNothingMeasured = errors.New("no run has a measured dilation of a job in company, so there is nothing to learn from")

// Fit learns sensitivities and pressures from runs. Observations count by their
// relative error, and, where seconds are known, by the square root of their
// share of the median duration, from ⅓ to 3.
//
// It takes O(observations · resources²) time per round, some hundred rounds for
// each candidate and fold.
func Fit(runs []Run, options Options) (*Result, error) {
	p, base, o, err := prepare(runs, options)
	if err != nil {
		return nil, err
	}
	if len(p.samples) == 0 {
		return nil, ErrNothingMeasured
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	candidates, chosen := choose(p, base, o, random)
	c := candidates[chosen]
	f := train(p, c, o, random)
	hidden := len(o.Resources) == 0
	if hidden {
		f.arrange(c.settings.scaleFree())
	}
	a := newAlternation(p, f, c.settings)
	a.correct()
	a.distrust()
	r := &Result{
		Resources: o.Resources, Hidden: hidden, Solver: c.Solver, Symmetric: c.Symmetric, Candidates: candidates, Chosen: chosen,
		table: p.table, factors: f, predictor: c.settings.predictor, index: map[string]int{},
	}
	if hidden {
		for i := range f.resources {
			r.Resources = append(r.Resources, fmt.Sprintf("r%d", i+1))
		}
	}
	for j, name := range p.jobs {
		r.index[name] = j
	}
	information := informationOf(a)
	r.spread = information.covariance()
	r.quantile = r.spread.quantile(o.Confidence)
	r.Quality = qualityOf(a, r.spread, hidden)
	r.Jobs = jobsOf(a, r)
	r.Outliers = outliersOf(a, r.spread)
	r.Contradictions = contradictionsOf(a, r.spread.noise)
	r.Unidentified = unidentifiedOf(a, r.Resources, hidden)
	return r, nil
}

// prepare checks what the user gave and puts it in order. Jobs of which only
// beliefs are known are part of it.
func prepare(runs []Run, options Options) (*problem, settings, Options, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, settings{}, o, err
	}
	for _, r := range runs {
		if err := r.validate(); err != nil {
			return nil, settings{}, o, err
		}
	}
	t := newTable(runs, o.Beliefs)
	s := settings{fractions: o.Fractions}
	if len(o.Beliefs) > 0 {
		s.beliefs = make([]*Belief, len(t.jobs))
		for j, name := range t.jobs {
			if belief, known := o.Beliefs[name]; known {
				s.beliefs[j] = &belief
			}
		}
	}
	return newProblem(t, t.allRuns()), s, o, nil
}

// Predict returns the dilations of jobs that share a node, in their order, with
// the confidence interval of their expectation; a single observation is further
// off by [Quality.Noise]. Jobs that the fit does not know are an error.
func (r *Result) Predict(jobs ...string) ([]Estimate, error) {
	members := make([]int, len(jobs))
	for a, name := range jobs {
		job, known := r.index[name]
		if !known {
			return nil, fmt.Errorf("job %q: is in no run and no belief", name)
		}
		members[a] = job
	}
	dilations := r.factors.dilations(members, r.predictor)
	estimates := make([]Estimate, len(jobs))
	for a, dilation := range dilations {
		margin := r.quantile * r.spread.deviation(r.factors.gradient(members, a, dilation))
		estimates[a] = Estimate{dilation, max(1, dilation-margin), dilation + margin}
	}
	return estimates, nil
}

// Vector returns a job's demands for [contention.NewLoad], one server per
// resource, or the error of [contention.Vector.Validate] where they are not
// fractions: on accelerators they need not be.
func (r *Result) Vector(job string) (contention.Vector, error) {
	j, known := r.index[job]
	if !known {
		return nil, fmt.Errorf("job %q: is in no run and no belief", job)
	}
	v := make(contention.Vector, len(r.Resources))
	for i := range v {
		v[i] = contention.Demand{Loading: r.factors.sensitivityOf(j)[i], Pressure: r.factors.pressureOf(j)[i], Threads: 1}
	}
	if err := v.Validate(); err != nil {
		return nil, fmt.Errorf("job %q: %w", job, err)
	}
	return v, nil
}

func jobsOf(a *alternation, r *Result) []Job {
	free := newFreedom(a.factors, r.Hidden && a.scaleFree())
	jobs := make([]Job, len(a.jobs))
	m := a.resources
	_, half := a.unknowns()
	for j, name := range a.jobs {
		jobs[j] = Job{
			Name: name, Measured: len(a.suffers[j]), Beside: len(a.inflicts[j]),
			Sensitivity: make([]Estimate, m), Pressure: make([]Estimate, m),
		}
		for i := range m {
			jobs[j].Sensitivity[i] = r.estimate(free, a.sensitivityOf(j)[i], j*m+i)
			jobs[j].Pressure[i] = r.estimate(free, a.pressureOf(j)[i], half+j*m+i)
		}
	}
	return jobs
}

func (r *Result) estimate(free *freedom, value float64, unknown int) Estimate {
	margin := r.quantile * free.deviation(r.spread, unknown)
	return Estimate{value, max(0, value-margin), value + margin}
}
