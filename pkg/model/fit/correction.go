package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
)

const (
	// consensus is how many models a correction takes the mean of, and nearlyAsGood
	// by which factor the error of each may exceed that of the best.
	consensus, nearlyAsGood = 4, 1.15
	// A correction learns from at least leastCells dilations beside one other job,
	// for beyond mostCells of them, or mostLikened jobs, it takes long.
	leastCells, mostCells, mostLikened = 100, 1500, 200
)

// Correction says how predictions of pairs differ from those of the vectors, see
// [Result].
type Correction struct {
	// Similar reports whether the residuals of the vectors are predicted from similar pairs.
	Similar bool
	// Effects is which part crossed effects of the jobs have in the logarithm of a
	// dilation, from 0 to 1: the rest is that of the vectors.
	Effects float64
	// Names says that names which differ in their last number only are taken to be
	// those of one family, and that what two families do to each other is predicted
	// from all pairs of them.
	Names bool
	// Error is the mean absolute relative error on runs left out with the
	// correction, and Without the one by the vectors alone.
	Error, Without float64
}

// correction predicts the dilations of pairs from several models, from their residuals at similar
// pairs, and from crossed effects.
type correction struct {
	models   []rival
	residual *kriging // nil if it is taken to be nothing
	effects  *effects // nil if the share is 0
	share    float64  // of the effects in the logarithm of a dilation
}

// manner is how a correction is made.
type manner struct {
	similar bool    // whether similar pairs count
	names   bool    // whether the families of jobs count there
	drift   bool    // whether the vectors may be off
	noise   float64 // the variance of a measurement over that of what similar cells have in common

	share     float64 // of crossed effects
	families  bool    // whether the families of jobs count there
	variances variances
}

// noises are the levels of noise that are tried where similar pairs count.
func noises() []manner {
	var all []manner
	for _, noise := range []float64{1. / 20, 1. / 100, 1. / 300} {
		all = append(all, manner{similar: true, noise: noise})
	}
	return all
}

// similarities returns the other ways in which similar pairs may count, with a level of
// noise.
func similarities(noise float64) []manner {
	return []manner{
		{similar: true, noise: noise, drift: true},
		{similar: true, noise: noise, names: true},
		{similar: true, noise: noise, names: true, drift: true},
	}
}

// shares are those of crossed effects that are tried. With half of both a prediction is
// the geometric mean of the two, which are wrong in different ways.
var shares = []float64{0.5, 1}

// chosenCorrection is a correction that is worthwhile by cross-validation.
type chosenCorrection struct {
	manner
	members []Candidate
	cells   int
	error   float64
}

// summary describes the correction, beside the error without it.
func (c *chosenCorrection) summary(without float64) *Correction {
	return &Correction{
		Similar: c.similar, Effects: c.share, Names: c.similar && c.names || c.share > 0 && c.families,
		Error: c.error, Without: without,
	}
}

// flattery is by which part of it, times the number of cells, the error of vectors is
// larger than cross-validation says: they are the best there of dozens of models, where
// crossed effects are one of two.
const flattery = 9

// judged returns the error that is expected of a correction.
func (c *chosenCorrection) judged() float64 {
	return c.error * (1 + (1-c.share)*flattery/float64(c.cells))
}

// chooseCorrection returns the correction that predicts runs left out clearly better than the
// chosen model alone, or nil. Corrections are of hidden resources: named ones mean the resource
// that they name.
func chooseCorrection(p *problem, c choice, o Options) *chosenCorrection {
	cells := len(cellsOf(p))
	if len(o.Resources) > 0 || cells < fewestEffects || cells > mostCells || len(p.jobs) > mostLikened || len(c.folds) == 0 {
		return nil
	}
	best := &chosenCorrection{members: []Candidate{c.best()}, cells: cells, error: c.best().Error}
	if cells >= leastCells {
		like := c.tryOut(c.consensus(), noises(), cells)
		best = like.best(c.tryOut(like.members, similarities(like.noise), cells)).better(best)
	}
	best = c.tryOut(best.members, withEffects(best.manner, p), cells).better(best)
	if best.manner == (manner{}) {
		return nil
	}
	return best
}

// withEffects returns the ways in which crossed effects may be part of a correction.
func withEffects(how manner, p *problem) []manner {
	families := []bool{false}
	if distinct := len(slices.Compact(slices.Sorted(slices.Values(familiesOf(p.jobs))))); distinct > 1 && distinct < len(p.jobs) {
		families = append(families, true)
	}
	cells, dilations := measuredCells(p)
	var all []manner
	for _, how.families = range families {
		how.variances = estimateVariances(familiesIf(how.families, p.jobs), cells, dilations)
		for _, how.share = range shares {
			all = append(all, how)
		}
	}
	return all
}

// better returns that of two corrections which is clearly better, the simpler one
// otherwise.
func (c *chosenCorrection) better(simpler *chosenCorrection) *chosenCorrection {
	if c.judged()*(1+thrift)+leastGain > simpler.judged() {
		return simpler
	}
	return c
}

// best returns that of two corrections which is better.
func (c *chosenCorrection) best(other *chosenCorrection) *chosenCorrection {
	if other.judged() < c.judged() {
		return other
	}
	return c
}

// tryOut returns the best of corrections of some models on runs left out.
func (c choice) tryOut(members []Candidate, manners []manner, cells int) *chosenCorrection {
	totals := make([][]float64, len(c.folds))
	var running sync.WaitGroup
	for f, fold := range c.folds {
		running.Go(func() {
			var models []rival
			for _, m := range members {
				models = append(models, rival{m.fits[f], m.settings.predictor})
			}
			totals[f] = make([]float64, len(manners))
			lesson := newLesson(fold.train, models)
			for i, how := range manners {
				corrected := lesson.correction(how)
				for _, s := range fold.test.samples {
					predicted := models[0].baseline[s.job] * corrected.dilation(models[0], fold.test.members[s.run], s.member)
					totals[f][i] += math.Abs(predicted/s.dilation - 1)
				}
			}
		})
	}
	running.Wait()
	count := 0
	errs := make([]float64, len(manners))
	for f, fold := range c.folds {
		count += len(fold.test.samples)
		for i, v := range totals[f] {
			errs[i] += v
		}
	}
	var best *chosenCorrection
	for i, how := range manners {
		one := &chosenCorrection{how, members, cells, errs[i] / float64(max(1, count))}
		if best == nil || one.judged() < best.judged() {
			best = one
		}
	}
	return best
}

// consensus returns the chosen model and a few others that predict about as well.
func (c choice) consensus() []Candidate {
	chosen := c.best()
	var others []Candidate
	for i, candidate := range c.candidates {
		if i != c.chosen && !candidate.Symmetric && candidate.Error <= chosen.Error*nearlyAsGood {
			others = append(others, candidate)
		}
	}
	slices.SortStableFunc(others, func(a, b Candidate) int { return cmp.Compare(a.Error, b.Error) })
	return append([]Candidate{chosen}, others[:min(len(others), consensus-1)]...)
}

// fit makes the correction of a fit of all of the problem, own being the chosen
// model's.
func (c *chosenCorrection) fit(p *problem, own *factors, o Options, random *rand.Rand) *correction {
	if c == nil {
		return nil
	}
	models := []rival{{own, c.members[0].settings.predictor}}
	for _, m := range c.members[1:] {
		models = append(models, rival{train(p, m, o, brief(), random), m.settings.predictor})
	}
	return newCorrection(p, models, c.manner)
}

// cellsOf returns the samples of jobs beside one other job.
func cellsOf(p *problem) []sample {
	var pairs []sample
	for _, s := range p.samples {
		if len(p.members[s.run]) == 2 {
			pairs = append(pairs, s)
		}
	}
	return pairs
}

// measuredCells returns the cells that were measured, and their dilations.
func measuredCells(p *problem) (cells []cell, dilations []float64) {
	for _, s := range cellsOf(p) {
		cells = append(cells, cell{s.job, s.others[0].job})
		dilations = append(dilations, s.dilation)
	}
	return cells, dilations
}

// newCorrection learns the residuals of models at pairs. The vectors with uncertainty are those of
// the first model.
func newCorrection(p *problem, models []rival, how manner) *correction {
	return newLesson(p, models).correction(how)
}

// lesson is the data from which corrections of some models learn: the dilations of pairs, and the
// logarithms of their predictions. It keeps the parts of the last correction.
type lesson struct {
	*problem
	models                     []rival
	predicted                  *mat.Dense // of all pairs
	cells                      []cell
	dilations, at, unexplained []float64 // per cell

	last     manner
	residual *kriging
	effects  *effects
}

func newLesson(p *problem, models []rival) *lesson {
	n := len(p.jobs)
	l := &lesson{problem: p, models: models, predicted: mat.NewDense(n, n, nil)}
	agreed := correction{models: models}
	for job := range n {
		for other := range n {
			l.predicted.Set(job, other, agreed.agreed(job, other))
		}
	}
	l.cells, l.dilations = measuredCells(p)
	for i, one := range l.cells {
		log := l.predicted.At(one.job, one.other)
		l.at = append(l.at, log)
		l.unexplained = append(l.unexplained, math.Log(l.dilations[i])-log)
	}
	return l
}

// correction makes a correction in some manner.
func (l *lesson) correction(how manner) *correction {
	c := &correction{models: l.models}
	if how.similar && len(l.cells) > 0 {
		if l.residual == nil || l.last.similarity() != how.similarity() {
			l.residual = l.similar(how)
		}
		c.residual = l.residual
	}
	if how.share > 0 {
		if l.effects == nil || l.last.variances != how.variances {
			l.effects = newEffects(familiesIf(how.families, l.jobs), how.variances, l.cells, l.dilations)
		}
		if l.effects != nil {
			c.effects, c.share = l.effects, how.share
		}
	}
	l.last = how
	return c
}

// similarity returns the part of the manner that is about similar pairs.
func (m manner) similarity() manner {
	m.share, m.families, m.variances = 0, false, variances{}
	return m
}

// familiesIf returns the families of jobs if they count, else nil.
func familiesIf(count bool, jobs []string) []string {
	if !count {
		return nil
	}
	return familiesOf(jobs)
}

// similar learns from the residuals of similar pairs.
func (l *lesson) similar(how manner) *kriging {
	alike := kinship{likeness: likenessOf(l.predicted), families: familiesIf(how.names, l.jobs)}
	var off *drift
	if how.drift {
		off = newDrift(l.models[0].factors)
	}
	return newKriging(alike, off, l.cells, l.at, l.unexplained, how.noise)
}

// likenessOf returns how alike jobs are, from 0 to 1, by how they are dilated beside
// each other one and how they dilate it.
func likenessOf(predicted *mat.Dense) *mat.SymDense {
	n, _ := predicted.Dims()
	likeness := mat.NewSymDense(n, nil)
	var distances []float64
	for a := range n {
		for b := range a {
			distance := 0.0
			for k := range n {
				dilated, dilates := predicted.At(a, k)-predicted.At(b, k), predicted.At(k, a)-predicted.At(k, b)
				distance += dilated*dilated + dilates*dilates
			}
			likeness.SetSym(a, b, distance)
			distances = append(distances, distance)
		}
	}
	unit := leastMean
	if len(distances) > 0 {
		slices.Sort(distances)
		unit = max(unit, reachOfLikeness*reachOfLikeness*distances[len(distances)/2])
	}
	for a := range n {
		for b := range a + 1 {
			likeness.SetSym(a, b, math.Exp(-likeness.At(a, b)/(2*unit)))
		}
	}
	return likeness
}

// agreed returns the mean logarithm of the dilation of a job beside another, over
// its stated alone time, by the models.
func (c *correction) agreed(job, other int) float64 {
	total := 0.0
	for _, m := range c.models {
		total += math.Log(m.baseline[job] * m.dilations([]int{job, other}, m.predictor)[0])
	}
	return total / float64(len(c.models))
}

// pair returns the logarithm of the corrected dilation of a job beside another over
// its stated alone time.
func (c *correction) pair(job, other int) float64 {
	effects := 0.0
	if c.share > 0 {
		effects = c.effects.at(cell{job, other}).log
	}
	if c.share == 1 {
		return effects
	}
	log := c.agreed(job, other)
	if c.residual != nil {
		log += c.residual.at(cell{job, other}, log)
	}
	return (1-c.share)*log + c.share*effects
}

// dilation returns the corrected dilation of one of the members of a run over the true alone time
// by a model's. In the company of several the correction is the mean of those beside each, in
// logarithms, weighted by the dilation that each adds. A nil correction changes nothing.
func (c *correction) dilation(model rival, members []int, member int) float64 {
	dilation := model.dilations(members, model.predictor)[member]
	if c == nil || len(members) < 2 {
		return dilation
	}
	return dilation * math.Exp(c.change(model, members, member))
}

// change returns the logarithm of a corrected dilation over that of a model.
func (c *correction) change(model rival, members []int, member int) float64 {
	job := members[member]
	return meanBeside(model, members, member, func(other int, beside float64) float64 {
		return c.pair(job, other) - math.Log(model.baseline[job]*beside)
	})
}

// effectsShare returns the part that crossed effects have in a dilation.
func (c *correction) effectsShare() float64 {
	if c == nil {
		return 0
	}
	return c.share
}

// deviation returns the standard deviation of the logarithm of a dilation by crossed
// effects, as if all in a job's company were off alike; 0 without any.
func (c *correction) deviation(model rival, members []int, member int) float64 {
	if c == nil || c.share == 0 || len(members) < 2 {
		return 0
	}
	return meanBeside(model, members, member, func(other int, _ float64) float64 {
		return c.effects.at(cell{members[member], other}).deviation
	})
}

// meanBeside returns the mean of a function over the others in a run, weighted by the dilation that
// each adds to a member. The function is of the other job and of the dilation beside it, by the
// model.
func meanBeside(model rival, members []int, member int, of func(other int, beside float64) float64) float64 {
	mean, total := 0.0, 0.0
	for _, o := range othersOf(members, member) {
		beside := model.dilations([]int{members[member], o.job}, model.predictor)[0]
		share := float64(o.copies) * (beside - 1 + leastExcess)
		mean += share * of(o.job, beside)
		total += share
	}
	return mean / total
}
