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
	// Names says that names which differ in their last number only are taken to be
	// those of one family, and that what two families do to each other is predicted
	// from all pairs of them.
	Names bool
	// Error is the mean absolute relative error on runs left out with the
	// correction, and Without the one by the vectors alone.
	Error, Without float64
}

// correction predicts the dilations of pairs from several models and from what these
// leave unexplained of similar pairs.
type correction struct {
	models   []rival
	residual *kriging
}

// manner is how a correction is made.
type manner struct {
	names bool    // whether the families of jobs count
	drift bool    // whether the vectors may be off
	noise float64 // the variance of a measurement over that of what similar cells have in common
}

// manners returns the ways that are tried.
func manners() []manner {
	var all []manner
	for _, names := range []bool{false, true} {
		for _, drift := range []bool{false, true} {
			for _, noise := range []float64{1. / 20, 1. / 100, 1. / 300} {
				all = append(all, manner{names, drift, noise})
			}
		}
	}
	return all
}

// chosenCorrection is a correction that is worthwhile by cross-validation.
type chosenCorrection struct {
	manner
	members []Candidate
	error   float64
}

// chooseCorrection returns the correction that predicts runs left out clearly
// better than the chosen model alone, or nil. Corrections are of hidden resources:
// named ones mean what they are called.
func chooseCorrection(p *problem, c choice, o Options) *chosenCorrection {
	cells := len(cellsOf(p))
	if len(o.Resources) > 0 || cells < leastCells || cells > mostCells || len(p.jobs) > mostLikened || len(c.folds) == 0 {
		return nil
	}
	members, manners := c.consensus(), manners()
	totals := make([][]float64, len(c.folds))
	var running sync.WaitGroup
	for f, fold := range c.folds {
		running.Go(func() {
			var models []rival
			for _, m := range members {
				models = append(models, rival{m.fits[f], m.settings.predictor})
			}
			totals[f] = make([]float64, len(manners))
			for i, how := range manners {
				corrected := newCorrection(fold.train, models, how)
				for _, s := range fold.test.samples {
					predicted := models[0].baseline[s.job] * corrected.dilation(models[0], p.members[s.run], s.member)
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
	best := 0
	for i := range errs {
		errs[i] /= float64(max(1, count))
		if errs[i] < errs[best] {
			best = i
		}
	}
	if errs[best]*(1+thrift)+leastGain > c.best().Error {
		return nil
	}
	return &chosenCorrection{manners[best], members, errs[best]}
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

// newCorrection learns what models leave unexplained of pairs. The vectors that may be
// off are those of the first model.
func newCorrection(p *problem, models []rival, how manner) *correction {
	c := &correction{models: models}
	n := len(p.jobs)
	predicted := mat.NewDense(n, n, nil)
	for job := range n {
		for other := range n {
			predicted.Set(job, other, c.agreed(job, other))
		}
	}
	var cells []cell
	var at, unexplained []float64
	for _, s := range cellsOf(p) {
		one := cell{s.job, s.others[0].job}
		cells = append(cells, one)
		at = append(at, predicted.At(one.job, one.other))
		unexplained = append(unexplained, math.Log(s.dilation)-predicted.At(one.job, one.other))
	}
	if len(cells) > 0 {
		alike := kinship{likeness: likenessOf(predicted)}
		if how.names {
			alike.families = familiesOf(p.jobs)
		}
		var off *drift
		if how.drift {
			off = newDrift(models[0].factors)
		}
		c.residual = newKriging(alike, off, cells, at, unexplained, how.noise)
	}
	return c
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
	agreed := c.agreed(job, other)
	if c.residual == nil {
		return agreed
	}
	return agreed + c.residual.at(cell{job, other}, agreed)
}

// dilation returns the corrected dilation of one of the members of a run over the
// true alone time by a model's. In the company of several the correction is the
// mean of those beside each, in logarithms, by what each adds to the dilation. A
// nil correction changes nothing.
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
	change, total := 0.0, 0.0
	for _, o := range othersOf(members, member) {
		beside := model.dilations([]int{job, o.job}, model.predictor)[0]
		share := float64(o.copies) * (beside - 1 + leastExcess)
		change += share * (c.pair(job, o.job) - math.Log(model.baseline[job]*beside))
		total += share
	}
	return change / total
}
