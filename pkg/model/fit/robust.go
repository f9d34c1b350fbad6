package fit

import (
	"math"
	"slices"
)

const (
	// cauchyWidth is the error, in standard deviations, at which an observation
	// counts half. With normal noise 95 % of the efficiency of least squares is
	// kept (Holland and Welsch, 1977).
	cauchyWidth = 2.385
	// leastSpread is the smallest relative noise that trust is weighed with.
	// Times are hardly measured better, and without it a fit that can follow most
	// observations exactly would do so, and call the rest outliers.
	leastSpread = 0.01
	// leastNoise is the smallest relative noise that intervals are made of.
	leastNoise = 1e-4
	// normalSpread turns a median absolute deviation into the standard deviation
	// of a normal distribution.
	normalSpread = 1.4826
)

// reweight sets the weight of each sample from how far it is from its prediction, as in
// iteratively reweighted least squares: 1/(1 + (e/2.385σ)²), the weight of the Cauchy distribution.
func (a *alternation) reweight() {
	spread := a.spreadOfErrors()
	for o := range a.samples {
		u := a.relativeError(o) / (cauchyWidth * spread)
		a.trust[o] = 1 / (1 + u*u)
	}
	if !a.baselines {
		return
	}
	around := max(spread, a.spreadOfBaselines())
	for j, b := range a.baseline {
		u := math.Log(b) / (cauchyWidth * around)
		a.robustWeight[j] = 1 / (1 + u*u)
		a.stated[j] = spread * spread / (around * around) * a.robustWeight[j]
	}
}

// spreadOfBaselines estimates the standard deviation of the logarithms of the
// baselines from their median, which a few alone times that are grossly wrong
// hardly move.
func (a *alternation) spreadOfBaselines() float64 {
	var off []float64
	for j, b := range a.baseline {
		if len(a.suffers[j]) > 0 {
			off = append(off, math.Abs(math.Log(b)))
		}
	}
	slices.Sort(off)
	return normalSpread * quantile(off, 0.5)
}

// relativeError returns (λ̂ − λ)/λ of a sample, times the square root of the weight of its
// duration.
func (a *alternation) relativeError(o int) float64 {
	s := &a.samples[o]
	return (a.predicted(o) - s.dilation) * math.Sqrt(s.weight)
}

// spreadOfErrors estimates the standard deviation of the relative errors from their median, which
// outliers hardly move. Errors are smaller than the noise by the part that the unknowns have taken
// up; where there are nearly as many unknowns as observations that part cannot be computed, and is
// taken to be half.
func (a *alternation) spreadOfErrors() float64 {
	for o := range a.samples {
		a.errs[o] = math.Abs(a.relativeError(o))
	}
	if len(a.errs) == 0 {
		return leastSpread
	}
	slices.Sort(a.errs)
	n := float64(len(a.errs))
	unknowns := a.unknowns()
	if a.baselines {
		unknowns += len(a.jobs)
		n += sum(a.stated)
	}
	left := math.Sqrt(max(0.25, 1-float64(unknowns)/n))
	return max(leastSpread, normalSpread*a.errs[len(a.errs)/2]/left)
}
