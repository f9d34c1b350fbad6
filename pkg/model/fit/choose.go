package fit

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

const (
	// thrift is by which fraction of the error, and leastGain by how much of it,
	// a simpler model may be worse and still be chosen.
	thrift, leastGain = 0.02, 0.001
	// hopeless is by which factor a number of resources must be worse than the
	// best for larger ones not to be tried.
	hopeless = 1.1
	// outclassed is by which factor two resources must be worse than another
	// model for more not to be tried.
	outclassed = 1.5
)

// Candidate is a model that cross-validation looked at.
type Candidate struct {
	Resources int     // the number of resources
	Solver    string  // the name of the [Predictor]
	Symmetric bool    // whether pressures equal sensitivities, as in the D-factor
	Baselines bool    // whether alone times are fitted rather than taken as stated
	Pull      float64 // how many typical observations the average job counts
	Error     float64 // the mean absolute relative error on runs left out

	settings settings
	fits     []*factors // per fold
}

// choice is the outcome of comparing models.
type choice struct {
	candidates []Candidate
	chosen     int // the place of the one to be fitted
	folds      []fold
}

// best returns the model to be fitted.
func (c choice) best() Candidate { return c.candidates[c.chosen] }

// choose returns the candidates that it evaluated, and the one that best predicts the runs that it
// has not seen; the simplest of equally good ones. With fewer than two runs it evaluates one, whose
// error is 0.
//
// Where there are several predictors they compete first, with usual settings; all
// settings are tried with the most promising ones.
func choose(p *problem, base settings, o Options, random *rand.Rand) choice {
	folds := foldsOf(p, o.Folds, random)
	predictors, all := predictorsFor(p, o), variants(p, base, o)
	if len(folds) == 0 {
		return choice{candidates: []Candidate{candidate(max(1, len(o.Resources)), all[0].with(predictors[0]), 0)}}
	}
	c := choice{folds: folds}
	if len(predictors) > 1 {
		usual := slices.DeleteFunc(slices.Clone(all), func(s settings) bool { return !s.usual() })
		all = slices.DeleteFunc(all, settings.usual)
		c.compare(predictors, usual, o.portion(0, competing), random)
		predictors, o = c.promising(predictors), o.portion(competing, 1)
	}
	c.compare(predictors, all, o, random)
	c.choose()
	return c
}

// competing is roughly which share of the work of choosing it is to compare predictors.
const competing = 0.4

// compare adds the candidates of some predictors with some settings.
func (c *choice) compare(predictors []Predictor, all []settings, o Options, random *rand.Rand) {
	best := math.Inf(1)
	for _, known := range c.candidates {
		best = min(best, known.Error)
	}
	pure := c.folds[0].train.sameCompany() != 0
	o.tell(0)
	for i, predictor := range predictors {
		for k, s := range all {
			for _, found := range walk(c.folds, s.with(predictor), o, best, random) {
				if pure || !found.shifted() {
					best = min(best, found.Error)
					c.candidates = append(c.candidates, found)
				}
			}
			o.tell((float64(i) + float64(k+1)/float64(len(all))) / float64(len(predictors)))
		}
	}
}

const (
	// promisingPredictors is how many predictors are tried with all settings, and
	// contending by which factor the error of one may exceed that of the best.
	promisingPredictors, contending = 2, 1.2
)

// promising returns the predictors with which the candidates so far are best, in the
// order in which they were.
func (c *choice) promising(predictors []Predictor) []Predictor {
	least := map[string]float64{}
	for _, candidate := range c.candidates {
		if known, found := least[candidate.Solver]; !found || candidate.Error < known {
			least[candidate.Solver] = candidate.Error
		}
	}
	errs := slices.Sorted(maps.Values(least))
	limit := min(errs[0]*contending, errs[min(promisingPredictors, len(errs))-1])
	return slices.DeleteFunc(slices.Clone(predictors), func(p Predictor) bool {
		err, found := least[p.Name()]
		return !found || err > limit
	})
}

// choose sets which candidate is to be fitted.
func (c *choice) choose() {
	limit := asGood(c.candidates)
	c.chosen = -1
	for i, candidate := range c.candidates {
		if candidate.Error <= limit && (c.chosen < 0 || simpler(candidate, c.candidates[c.chosen])) {
			c.chosen = i
		}
	}
}

// shifted reports whether the alone times that were fitted are off by a factor that
// most jobs have in common. They were not all measured wrong alike: it is larger
// company that costs less, or more, than the predictor says.
func (c Candidate) shifted() bool {
	if !c.Baselines {
		return false
	}
	var logs []float64
	for _, f := range c.fits {
		for _, b := range f.baseline {
			logs = append(logs, math.Log(b))
		}
	}
	slices.Sort(logs)
	common := quantile(logs, 0.5)
	for i, log := range logs {
		logs[i] = math.Abs(log - common)
	}
	slices.Sort(logs)
	return math.Abs(common) > max(leastDifference, normalSpread*quantile(logs, 0.5)/2)
}

// asGood returns up to which error a candidate counts as good as the best.
func asGood(candidates []Candidate) float64 {
	best := math.Inf(1)
	for _, c := range candidates {
		best = min(best, c.Error)
	}
	return best*(1+thrift) + leastGain
}

func candidate(resources int, s settings, err float64) Candidate {
	return Candidate{Resources: resources, Solver: s.predictor.Name(), Symmetric: s.tied, Baselines: s.baselines, Pull: s.pull, Error: err, settings: s}
}

// simpler orders models that are as good as each other: fewer numbers for each
// job, then the first order, then the smaller error.
func simpler(a, b Candidate) bool {
	if a.perJob() != b.perJob() {
		return a.perJob() < b.perJob()
	}
	if first := isFirstOrder(a.settings.predictor); first != isFirstOrder(b.settings.predictor) {
		return first
	}
	return a.Error < b.Error
}

// perJob returns how many numbers the model has for each job.
func (c Candidate) perJob() int {
	numbers := 2 * c.Resources
	if c.Symmetric {
		numbers = c.Resources
	}
	if c.Baselines {
		numbers++
	}
	return numbers
}

// predictorsFor returns those to choose from.
func predictorsFor(p *problem, o Options) []Predictor {
	all := slices.Clone(o.Predictors)
	if len(all) == 0 {
		all = Predictors()
		if p.largest() < 3 {
			all = all[:1]
		}
	}
	for i, predictor := range all {
		if sum, saturating := predictor.(SaturatingSum); saturating {
			all[i] = sum.over(p.samples)
		}
	}
	return all
}

// pulls are the strengths of the pull that are tried; usualPull is that with which
// predictors compete.
var pulls = []float64{0.01, usualPull, 1}

const usualPull = 0.1

// usual reports whether the settings are those with which predictors compete: alone
// times are as stated, for they would make up for a predictor that is wrong.
func (s settings) usual() bool { return s.pull == usualPull && !s.baselines }

// with returns the settings with a predictor.
func (s settings) with(p Predictor) settings {
	s.predictor = p
	return s
}

// variants returns the settings to choose from: pressures free or equal to
// sensitivities, alone times as stated or fitted, every strength of the pull.
func variants(p *problem, base settings, o Options) []settings {
	symmetries := []bool{false, true}
	switch {
	case base.tied:
		symmetries = symmetries[1:]
	case len(o.Resources) > 0:
		symmetries = symmetries[:1]
	}
	var all []settings
	for _, symmetric := range symmetries {
		for _, pull := range pulls {
			s := base
			s.tied, s.pull = symmetric, pull
			all = append(all, s)
		}
	}
	// The D-factor, as a baseline, takes alone times as stated. Nor can alone times be estimated
	// where a sensitivity and a pressure per job fit any observations.
	if base.tied || p.companies() <= 2*len(p.jobs) {
		return all
	}
	for _, s := range all {
		if !s.tied { // with a baseline of its own a job is not symmetric
			s.baselines = true
			all = append(all, s)
		}
	}
	return all
}

// fold is one division of the runs.
type fold struct {
	train *problem
	test  *problem
}

// foldsOf divides the informative runs of a problem at random into parts of equal size, and returns
// for each the rest to learn from and the part to predict, so that neither is without a sample.
// With fewer than two such runs there are none.
func foldsOf(p *problem, parts int, random *rand.Rand) []fold {
	runs := informative(p)
	parts = min(parts, len(runs))
	if parts < 2 {
		return nil
	}
	order := random.Perm(len(runs))
	folds := make([]fold, parts)
	for f := range folds {
		var train, test []int
		for place, u := range order {
			if place%parts == f {
				test = append(test, runs[u])
			} else {
				train = append(train, runs[u])
			}
		}
		folds[f] = fold{newProblem(p.table, train), newProblem(p.table, test)}
	}
	return folds
}

// walk adds hidden resources one by one, each fit starting from the one before,
// for as long as that may help: not beyond a number that is clearly worse than
// the one before, nor where two are far from the best model known so far.
// Named resources are one step.
func walk(folds []fold, s settings, o Options, known float64, random *rand.Rand) []Candidate {
	var candidates []Candidate
	fits := make([]*factors, len(folds))
	best := math.Inf(1)
	first, last := 1, min(o.MaxResources, len(folds[0].train.jobs))
	if n := len(o.Resources); n > 0 {
		first, last = n, n
	}
	for m := first; m <= last; m++ {
		err := advance(folds, fits, m, s, o, random)
		c := candidate(m, s, err)
		c.fits = slices.Clone(fits)
		candidates = append(candidates, c)
		best = min(best, err)
		if err > hopeless*best || m > first && best > outclassed*known {
			break
		}
	}
	return candidates
}

// advance takes the fit of every fold to m resources, all folds at once, and returns the mean
// absolute relative error on the samples that they leave out.
func advance(folds []fold, fits []*factors, m int, s settings, o Options, random *rand.Rand) float64 {
	totals := make([]float64, len(folds))
	count := 0
	var running sync.WaitGroup
	for f, fold := range folds {
		own := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
		count += len(fold.test.samples)
		running.Go(func() {
			fits[f] = step(fold.train, fits[f], m, s, o, brief(), own)
			unseen := newAlternation(fold.test, fits[f], s)
			unseen.correct()
			for i, sample := range unseen.samples {
				totals[f] += math.Abs(unseen.predicted(i)/sample.dilation - 1)
			}
		})
	}
	running.Wait()
	return sum(totals) / float64(max(1, count))
}

// step returns the best fit with m resources of several starts: one from the
// fit with one resource less, which is near, the rest from nowhere, far
// from where that one may be stuck.
func step(p *problem, from *factors, m int, s settings, o Options, until patience, random *rand.Rand) *factors {
	if len(o.Resources) > 0 {
		f := believed(p, m, s)
		newAlternation(p, f, s).run(until)
		return f
	}
	tries := until.starts
	if m == 1 {
		tries = 1 // all end alike
	}
	var best *factors
	least := math.Inf(1)
	for try := range tries {
		var f *factors
		if from == nil || try > 0 {
			f = scatter(len(p.jobs), m, s.tied, random)
		} else {
			f = grow(from, len(p.jobs), s.tied, random)
		}
		if loss := newAlternation(p, f, s).run(until); best == nil || loss < least {
			best, least = f, loss
		}
	}
	return best
}

// train fits a problem as a candidate says.
func train(p *problem, c Candidate, o Options, until patience, random *rand.Rand) *factors {
	first := 1
	if len(o.Resources) > 0 {
		first = c.Resources
	}
	var f *factors
	for m := first; m <= c.Resources; m++ {
		f = step(p, f, m, c.settings, o, until, random)
	}
	return f
}

// believed returns the start of a fit of named resources: every job where it is
// believed to be, or else equally at all of them.
func believed(p *problem, m int, s settings) *factors {
	f := newFactors(len(p.jobs), m, s.tied)
	for j := range p.jobs {
		for i := range m {
			f.sensitivityOf(j)[i] = 1 / float64(m)
			f.pressureOf(j)[i] = 1 / float64(m)
		}
		if b := s.belief(j); b != nil {
			copy(f.sensitivityOf(j), b.Sensitivity)
			copy(f.pressureOf(j), b.pressure())
		}
	}
	return f
}
