package fit

import (
	"fmt"
	"math"
	"slices"
)

// mostCalibrated bounds how many dilations left out intervals are compared with.
const mostCalibrated = 300

// calibration holds the factors by which the intervals of dilations must be wider than a fit to the
// same runs says, for jobs that it has not seen together: in pairs, and in larger groups. Both are
// at least 1. A fit takes its model to be right and cannot test that on the runs that it was made
// from; runs left out can. A nil calibration changes nothing.
type calibration struct{ pairs, groups float64 }

// calibrate compares the intervals of dilations left out, by the fits to the rest, with the
// measurements. A factor is the one at which the stated share of measurements lies within its
// interval and the noise of a measurement (normalized conformal prediction over cross-validation;
// Papadopoulos, Gammerman and Vovk, AIA 2008; Barber et al., Annals of Statistics 49, 2021).
func calibrate(p *problem, c choice, chosen *chosenCorrection, o Options) *calibration {
	if p.weighing != nil || len(c.folds) == 0 {
		return nil
	}
	step := 1 + len(p.samples)/mostCalibrated
	var pairs, groups []float64
	at := 0
	for f, fold := range c.folds {
		r := c.resultOf(f, chosen, o)
		noise := studentQuantile(max(1, r.spread.freedom), o.Confidence) * r.spread.noise
		for _, s := range fold.test.samples {
			if at++; at%step != 0 {
				continue
			}
			members := p.members[s.run]
			e := r.estimateOf(members, s.member)
			if e.Unknown != "" || !(e.High > e.Value) {
				continue
			}
			off := s.dilation/r.factors.baseline[s.job] - e.Value
			random := noise * e.Value
			factor := math.Sqrt(max(0, off*off-random*random)) / (e.High - e.Value)
			if len(members) > 2 {
				groups = append(groups, factor)
			} else {
				pairs = append(pairs, factor)
			}
		}
	}
	return &calibration{conformal(pairs, o.Confidence), conformal(groups, o.Confidence)}
}

// fewestCalibrated is how many dilations left out there must be for intervals to be
// compared with them.
const fewestCalibrated = 8

// conformal returns the factor that covers the share of an exchangeable next value,
// at least 1.
func conformal(factors []float64, confidence float64) float64 {
	n := len(factors)
	if n < fewestCalibrated {
		return 1
	}
	slices.Sort(factors)
	return max(1, factors[min(n, int(math.Ceil(float64(n+1)*confidence)))-1])
}

// resultOf returns the fit of the chosen model to all runs except one part, with the data that
// predictions need.
func (c choice) resultOf(f int, chosen *chosenCorrection, o Options) *Result {
	best, train := c.best(), c.folds[f].train
	r := &Result{table: train.table, factors: best.fits[f], predictor: best.settings.predictor, confidence: o.Confidence, Baselines: best.Baselines}
	a := newAlternation(train, r.factors, best.settings)
	a.correct()
	a.reweight()
	r.spread = covarianceOf(a)
	for _, i := range c.equals(chosen) {
		r.rivals = append(r.rivals, rival{c.candidates[i].fits[f], c.candidates[i].settings.predictor})
	}
	if chosen != nil {
		var models []rival
		for _, m := range chosen.members {
			models = append(models, rival{m.fits[f], m.settings.predictor})
		}
		r.correction = newCorrection(train, models, chosen.manner)
	}
	return r
}

// companyKey returns a key of a group of jobs.
func companyKey(members []int) string { return fmt.Sprint(slices.Sorted(slices.Values(members))) }

// factor returns by how much wider the interval of a dilation of one of the members is.
func (r *Result) widening(members []int) float64 {
	switch {
	case r.calibration == nil || len(members) < 2:
		return 1
	case len(members) > 2:
		return r.calibration.groups
	case r.seen[companyKey(members)]:
		return 1
	}
	return r.calibration.pairs
}
