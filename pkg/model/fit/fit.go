package fit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"loadline.dev/loadline/pkg/model/loading"
)

// Estimate is a fitted value and its confidence interval. How it is computed
// is said at [Result].
type Estimate struct {
	Value, Low, High float64
	// Unknown says why the interval is not known. Low is then the least that is
	// possible, and High infinite. Empty where it can.
	Unknown string
	// Beyond states the size of the groups of the runs, where the value is of a larger group. The
	// interval is then as wide as the range over the possible effects of the additional company.
	// Empty for a group of a size within the runs.
	Beyond string
}

// Job is the result for one job.
type Job struct {
	Name string
	// Sensitivity and Pressure are at each of the resources.
	Sensitivity, Pressure []Estimate
	// Baseline is the true alone time over the stated one: 1 unless the fit has
	// found that some are wrong, see [Result].
	Baseline Estimate
	// Dilated and Dilates are the mean dilation of the job beside each other job,
	// and of each other job beside it, nil where there is no other job. Whatever the
	// resources are, these are determined.
	Dilated, Dilates *Estimate
	// Measured counts the dilations of the job measured in company, and Beside
	// the measured dilations of others that it may have caused.
	Measured, Beside int
}

// Quality measures the agreement of a fit with its own observations. [CrossValidate] measures the
// agreement with others.
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

// Result is the result of [Fit].
//
// Confidence intervals exist for quantities that the runs determine: dilations; baselines;
// sensitivities and pressures at named resources, or at a single hidden one, whose scale is a
// convention (Σ s² = Σ q²). Several hidden resources can be mixed without changing any dilation, so
// there single sensitivities and pressures have none. Nor do quantities about which the runs hold
// less information than the assumptions, or any quantity where there are too few observations to
// estimate their noise. The fit is linearized about its solution; noise may differ from observation
// to observation. Where models of several kinds predict unseen runs equally well, intervals include
// the distance between them; that one of them is right is taken for granted.
//
// The residual of the vectors at a pair is often the same for similar jobs. Where that predicts
// unseen runs clearly better, dilations have a [Correction] ([Result.Predict], Dilated and
// Dilates), which the vectors do not: the mean of the logarithms of the dilations by a few models
// that predict about as well, plus Gaussian-process regression of their residuals.
type Result struct {
	// Resources names the resources; Hidden says that they were found rather
	// than given, as r1, r2, …, in decreasing order of the contention there.
	Resources []string
	Hidden    bool
	// Jobs holds every job that appears in a run or in the beliefs, by name.
	Jobs []Job
	// Largest is the number of jobs of the largest run with a measured dilation.
	Largest int
	// Solver is the name of the [Predictor] chosen. Symmetric says that pressures
	// equal to sensitivities, the D-factor, predict as well as free ones.
	Solver    string
	Symmetric bool
	// Baselines says that alone times were fitted, because unseen runs are then
	// predicted better: dilations are over the true alone times.
	Baselines bool
	// Candidates are the models that cross-validation compared, and Chosen is
	// the place of the one that was fitted.
	Candidates []Candidate
	Chosen     int
	// Correction is how predicted dilations differ from those of the vectors, nil
	// where they do not.
	Correction *Correction
	Quality    Quality
	// WrongAlone, Outliers, Contradictions and Unidentified say what may be wrong.
	Outliers       []Outlier
	Contradictions []Contradiction
	Unidentified   []Unidentified
	WrongAlone     []WrongAlone

	table      *table
	factors    *factors
	predictor  Predictor
	correction *correction
	index      map[string]int
	rivals     []rival
	spread     *covariance
	confidence float64

	calibration *calibration
	seen        map[string]bool // the groups that ran, by [companyKey]
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
	choice := choose(p, base, o.portion(0, choosing), random)
	candidates, chosen := choice.candidates, choice.chosen
	c := choice.best()
	f := train(p, c, o, full(), random)
	hidden := len(o.Resources) == 0
	if hidden {
		f.arrange(c.settings.scaleFree())
	}
	a := newAlternation(p, f, c.settings)
	a.grid = fine
	a.weigh()
	a.correct()
	a.reweight()
	r := &Result{
		Resources: o.Resources, Hidden: hidden, Solver: c.Solver, Symmetric: c.Symmetric, Baselines: c.Baselines, Candidates: candidates, Chosen: chosen,
		table: p.table, factors: f, predictor: c.settings.predictor, index: map[string]int{},
	}
	if hidden {
		r.Resources = hiddenNames(f.resources)
	}
	for j, name := range p.jobs {
		r.index[name] = j
	}
	worthwhile := chooseCorrection(p, choice, o)
	r.rivals = rivalsOf(p, choice, worthwhile, o, random)
	o.tell((1 + choosing) / 2)
	if worthwhile != nil {
		r.Correction = worthwhile.summary(c.Error)
		r.correction = worthwhile.fit(p, f, o, apart(o))
	}
	r.calibration = calibrate(p, choice, worthwhile, o)
	r.seen = map[string]bool{}
	for _, s := range p.samples {
		r.seen[companyKey(p.members[s.run])] = true
		r.Largest = max(r.Largest, len(p.members[s.run]))
	}
	r.spread = covarianceOf(a)
	r.confidence = o.Confidence
	r.Quality = qualityOf(a, r.spread, hidden)
	r.Jobs = jobsOf(a, r)
	r.WrongAlone = wrongAloneOf(r.Jobs)
	r.Outliers = outliersOf(a, r.spread)
	r.Contradictions = contradictionsOf(a, r.spread.noise)
	r.Unidentified = unidentifiedOf(a, r.Resources, hidden)
	return r, nil
}

// choosing is roughly which share of the work of a fit the choice of the model is.
const choosing = 0.7

// prepare checks the user's input and puts it in order. It includes jobs for which there are only
// beliefs.
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
	if t.weighing, err = newWeighing(runs, o); err != nil {
		return nil, settings{}, o, err
	}
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

// Predict returns the dilations of jobs that share a node, in their order, with the confidence
// interval of their expectation; a single observation is further off by [Quality.Noise]. Jobs
// without a fit are an error.
func (r *Result) Predict(jobs ...string) ([]Estimate, error) {
	members := make([]int, len(jobs))
	for a, name := range jobs {
		job, known := r.index[name]
		if !known {
			return nil, fmt.Errorf("job %q: is in no run and no belief", name)
		}
		members[a] = job
	}
	estimates := make([]Estimate, len(jobs))
	for a := range jobs {
		estimates[a] = r.beyond(r.within(members, a), members, a)
	}
	return estimates, nil
}

// within returns the estimate of a member's dilation if groups are as runs were.
func (r *Result) within(members []int, a int) Estimate {
	e := r.estimateOf(members, a)
	if wider := r.widening(members); e.Unknown == "" && wider > 1 {
		e.Low, e.High = max(min(1, e.Value), e.Value-wider*(e.Value-e.Low)), e.Value+wider*(e.High-e.Value)
	}
	return e
}

// estimateOf returns the estimate of a member's dilation if the model is right.
func (r *Result) estimateOf(members []int, a int) Estimate {
	plain, dilation, gradient := r.member(members, a)
	deviation := dilation * r.correction.deviation(rival{r.factors, r.predictor}, members, a)
	return r.dilation(dilation, plain, deviation, gradient, func(v rival) float64 { return v.dilations(members, v.predictor)[a] })
}

// member returns the dilation of a member of a run by the vectors alone, the corrected one, and its
// gradient by each unknown, with the correction held constant.
func (r *Result) member(members []int, a int) (plain, corrected float64, gradient []term) {
	model := rival{r.factors, r.predictor}
	plain = model.dilations(members, r.predictor)[a]
	corrected = r.correction.dilation(model, members, a)
	gradient = model.gradient(members, a, plain)
	for i := range gradient {
		gradient[i].value *= corrected / plain
	}
	return plain, corrected, gradient
}

// dilation returns the estimate of a dilation, or a mean of some, with that gradient; of returns
// its value for a rival, and plain is its value by the vectors alone, which are then a rival of the
// correction. Deviation is the standard deviation by crossed effects, where these have a part in
// it.
func (r *Result) dilation(value, plain, deviation float64, gradient []term, of func(rival) float64) Estimate {
	reach := r.spread.times(gradient)
	apart := disagreement(r.rivals, value, of)
	byRivals := 0.0
	if r.spread.freedom >= leastFreedom {
		byRivals = studentQuantile(r.spread.freedom, r.confidence) * math.Sqrt(apart)
	}
	if r.correction != nil {
		n := float64(len(r.rivals) + 1)
		apart = (apart*n + (plain-value)*(plain-value)) / (n + 1)
	}
	margin, reason := r.spread.margin(along(gradient, reach), reach, apart, r.confidence)
	if share := r.correction.effectsShare(); share > 0 && r.spread.freedom >= leastFreedom {
		by := studentQuantile(r.spread.freedom, r.confidence) * deviation
		if reason != "" {
			margin, reason = by, ""
		} else {
			margin = max(byRivals, math.Hypot((1-share)*margin, share*by))
		}
	}
	least := min(1, value)
	if reason = leftOpen(margin, value, reason); reason != "" {
		return unknownEstimate(value, least, reason)
	}
	return Estimate{Value: value, Low: max(least, value-margin), High: value + margin}
}

// meanDilation returns that of pairs of a job with each other one: of its own
// dilations, if which is 0, or of the others', if it is 1; nil if there are none.
func (r *Result) meanDilation(job, which int) *Estimate {
	others := float64(len(r.table.jobs) - 1)
	if others == 0 {
		return nil
	}
	mean, plain, deviation, slopes := 0.0, 0.0, 0.0, make([]float64, len(r.spread.pull))
	for other := range r.table.jobs {
		if other == job {
			continue
		}
		alone, dilation, slope := r.member([]int{job, other}, which)
		mean += dilation / others
		plain += alone / others
		deviation += dilation * r.correction.deviation(rival{r.factors, r.predictor}, []int{job, other}, which) / others
		for _, t := range slope {
			slopes[t.at] += t.value / others
		}
	}
	var gradient []term
	for at, v := range slopes {
		if v != 0 {
			gradient = append(gradient, term{at, v})
		}
	}
	e := r.dilation(mean, plain, deviation, gradient, func(v rival) float64 { return v.meanDilation(job, which) })
	return &e
}

// Vector returns a job's demands for [contention.NewLoad], one server per
// resource, or the error of [contention.Vector.Validate] where they are not
// fractions: on accelerators they need not be.
func (r *Result) Vector(job string) (loading.Vector, error) {
	j, known := r.index[job]
	if !known {
		return nil, fmt.Errorf("job %q: is in no run and no belief", job)
	}
	v := make(loading.Vector, len(r.Resources))
	for i := range v {
		v[i] = loading.Demand{Loading: r.factors.sensitivityOf(j)[i], Pressure: r.factors.pressureOf(j)[i], Threads: 1}
	}
	if err := v.Validate(); err != nil {
		return nil, fmt.Errorf("job %q: %w", job, err)
	}
	return v, nil
}

func jobsOf(a *alternation, r *Result) []Job {
	scale := newScale(a.factors, r.spread)
	own, theirs := a.largest()
	jobs := make([]Job, len(a.jobs))
	for j, name := range a.jobs {
		ownAt, theirsAt := a.place(j)
		jobs[j] = Job{Name: name, Measured: len(a.suffers[j]), Beside: len(a.inflicts[j]), Baseline: r.baseline(j, ownAt+a.resources)}
		jobs[j].Dilated = r.meanDilation(j, 0)
		jobs[j].Dilates = r.meanDilation(j, 1)
		for i := range a.resources {
			s, q := a.sensitivityOf(j)[i], a.pressureOf(j)[i]
			switch {
			case a.strength(j) >= pinned:
				jobs[j].Sensitivity = append(jobs[j].Sensitivity, held(s))
				jobs[j].Pressure = append(jobs[j].Pressure, held(q))
			case r.Hidden && a.resources > 1:
				jobs[j].Sensitivity = append(jobs[j].Sensitivity, unknownEstimate(s, 0, mixed))
				jobs[j].Pressure = append(jobs[j].Pressure, unknownEstimate(q, 0, mixed))
			default:
				hold := r.Hidden && a.scaleFree() && !a.symmetric()
				jobs[j].Sensitivity = append(jobs[j].Sensitivity, r.estimate(scale, hold, s, own[i], ownAt+i, func(v rival) float64 { return v.sensitivityOf(j)[i] }))
				jobs[j].Pressure = append(jobs[j].Pressure, r.estimate(scale, hold, q, theirs[i], theirsAt+i, func(v rival) float64 { return v.pressureOf(j)[i] }))
			}
		}
	}
	return jobs
}

// widest is the largest ratio of a margin to its value that is still informative.
const widest = 10

// leftOpen returns why there is no interval with a margin of something of a size: the
// reason that is known, or that the margin is too wide.
func leftOpen(margin, size float64, reason string) string {
	if reason == "" && !(margin <= widest*size) { // also catches NaN
		return "the runs leave it open by more than ten times of what it is"
	}
	return reason
}

// mixed is why vectors at several hidden resources have no intervals.
const mixed = "hidden resources can be mixed without changing any dilation"

func held(value float64) Estimate { return Estimate{Value: value, Low: value, High: value} }

// unknownEstimate returns an estimate without an interval: it may be anything
// from least up.
func unknownEstimate(value, least float64, reason string) Estimate {
	return Estimate{Value: value, Low: least, High: math.Inf(1), Unknown: reason}
}

// baseline returns the estimate of a job's baseline.
func (r *Result) baseline(job, unknown int) Estimate {
	value := r.factors.baseline[job]
	if !r.Baselines {
		return held(1)
	}
	reach := r.spread.times([]term{{unknown, 1}})
	models := disagreement(r.rivals, math.Log(value), func(v rival) float64 { return math.Log(v.baseline[job]) })
	margin, reason := r.spread.margin(reach[unknown], reach, models, r.confidence)
	if reason = leftOpen(math.Exp(margin), 1, reason); reason != "" {
		return unknownEstimate(value, 0, reason)
	}
	return Estimate{Value: value, Low: value * math.Exp(-margin), High: value * math.Exp(margin)}
}

// estimate returns the estimate of one sensitivity or pressure, given the largest of any job. Hold
// reports whether the scale of the resource is held, and of returns the value for a rival.
func (r *Result) estimate(s scale, hold bool, value, largest float64, unknown int, of func(rival) float64) Estimate {
	reach := r.spread.times([]term{{unknown, 1}})
	plain := reach[unknown]
	if hold {
		plain = s.hold(unknown, reach)
	}
	margin, reason := r.spread.margin(plain, reach, disagreement(r.comparable(), value, of), r.confidence)
	if reason = leftOpen(margin, largest, reason); reason != "" {
		return unknownEstimate(value, 0, reason)
	}
	return Estimate{Value: value, Low: max(0, value-margin), High: value + margin}
}

// scale is the freedom of a single hidden resource that changes no dilation: sensitivities times a
// factor, and pressures over it. It is set by Σ s² = Σ q² ([factors.arrange]), to which it is
// orthogonal.
type scale struct {
	direction, reach []float64 // of length 1, and the covariance times it
}

func newScale(f *factors, c *covariance) scale {
	s := scale{direction: make([]float64, len(c.pull))}
	if f.resources > 1 || f.symmetric() {
		return s
	}
	var terms []term
	for j := range f.baseline {
		own, theirs := f.place(j)
		s.direction[own], s.direction[theirs] = f.sensitivity[j], -f.pressure[j]
	}
	size := floats.Norm(s.direction, 2)
	for at, v := range s.direction {
		if v != 0 {
			s.direction[at] = v / size
			terms = append(terms, term{at, v / size})
		}
	}
	s.reach = c.times(terms)
	return s
}

// hold takes the scale out of the reach of one unknown, and returns the variance
// that is left.
func (s scale) hold(unknown int, reach []float64) float64 {
	share := s.direction[unknown]
	plain := reach[unknown] - 2*share*s.reach[unknown] + share*share*floats.Dot(s.direction, s.reach)
	floats.AddScaled(reach, -share, s.reach)
	return max(0, plain)
}
