package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

const (
	// reachOfLikeness is how far apart two jobs are whose likeness is exp(−½), over
	// the median distance of two jobs.
	reachOfLikeness = 0.6
	// shareOfPairs is the share of the residual variance that is specific to single pairs of jobs. The rest is
	// common to a job in all company, and to all jobs in the company of one, in equal parts.
	shareOfPairs = 0.6
	// shareOfFamilies is which part of the variance is common to all pairs of two
	// families, where names count.
	shareOfFamilies = 0.5
	// leastAmplitude is how much of its dilation may be unexplained of a job that
	// is not dilated, where it may be 1 of a job that is dilated without bound.
	leastAmplitude = 0.05
)

// cell is a job beside one other job.
type cell struct{ job, other int }

// kinship is how alike jobs are.
type kinship struct {
	likeness *mat.SymDense // by their dilations, from 0 to 1
	families []string      // per job; nil where names do not count
}

// kriging predicts the residual of a model at a cell from its residuals at similar cells: Gaussian-process
// regression of the logarithms of measured over predicted dilations. The covariance of two cells is the
// product of the similarity of their jobs and of that of the others (Stegle et al., NIPS 2011), and grows with
// the predicted dilations; to it is added the [drift] of the model's vectors. Noise is Cauchy's, by weights as
// in [alternation.reweight].
type kriging struct {
	kinship
	drift     *drift
	cells     []cell
	amplitude []float64 // per cell
	slopes    []slopes  // per cell
	weights   []float64 // per cell, the inverse covariance times the residual
}

// amplitudeOf returns how much may be unexplained where a dilation of that
// logarithm is predicted.
func amplitudeOf(predicted float64) float64 {
	return leastAmplitude + 1 - math.Exp(-max(0, predicted))
}

// newKriging learns from the residuals of some cells, in logarithms; noise is the ratio of the variance of a
// measurement to the common variance of similar cells. It takes O(cells³) time. It returns nil where the cells
// cannot be distinguished.
func newKriging(alike kinship, off *drift, cells []cell, predicted, unexplained []float64, noise float64) *kriging {
	n := len(cells)
	k := &kriging{kinship: alike, drift: off, cells: cells, amplitude: make([]float64, n), slopes: make([]slopes, n)}
	power := 0.0
	for i, p := range predicted {
		k.slopes[i] = off.of(cells[i])
		k.amplitude[i] = amplitudeOf(p)
		power += k.amplitude[i] * k.amplitude[i] / float64(n)
	}
	covariance := mat.NewSymDense(n, nil)
	for i, a := range cells {
		for j, b := range cells[:i+1] {
			covariance.SetSym(i, j, k.amplitude[i]*k.amplitude[j]*k.alike(a, b)+off.covariance(a, b, k.slopes[i], k.slopes[j]))
		}
	}
	weights, _, ok := krige(covariance, slices.Repeat([]float64{power * noise}, n), unexplained, inverseWeights(unexplained))
	if !ok {
		return nil
	}
	k.weights = weights
	return k
}

// krige returns the inverse of a covariance, to which the variances of noise are added, times the
// observations, and the Cholesky factor. Noise is Cauchy's: the inverse weight of an observation multiplies
// its variance, first the given weight, then that of its residual over the standard deviation of its noise. It
// reports false where the covariance is not positive definite.
func krige(covariance *mat.SymDense, noise, observed, inverse []float64) (weights []float64, factor blas64.Triangular, ok bool) {
	n := len(observed)
	weights = make([]float64, n)
	left := make([]float64, n)
	noisy := mat.NewSymDense(n, nil)
	least := slices.Min(noise)
	for range 2 {
		noisy.CopySym(covariance)
		for i, d := range inverse {
			noisy.SetSym(i, i, covariance.At(i, i)+noise[i]*d)
		}
		// Not mat.Cholesky, which takes half as long again to estimate the condition.
		if factor, ok = lapack64.Potrf(noisy.RawSymmetric()); !ok {
			return nil, factor, false
		}
		copy(weights, observed)
		solve(factor, weights)
		for i, d := range inverse {
			left[i] = noise[i] * d * weights[i] / math.Sqrt(noise[i]/least)
		}
		inverse = inverseWeights(left)
	}
	return weights, factor, true
}

// solve replaces the right-hand side of a system by its solution.
func solve(factor blas64.Triangular, side []float64) {
	lapack64.Potrs(factor, blas64.General{Rows: len(side), Cols: 1, Stride: 1, Data: side})
}

// inverseWeights returns the inverse of the Cauchy weight, 1 + (e/2.385σ)² of each error, σ from their median.
func inverseWeights(errs []float64) []float64 {
	sizes := make([]float64, len(errs))
	for i, e := range errs {
		sizes[i] = math.Abs(e)
	}
	inverse := slices.Clone(sizes)
	slices.Sort(sizes)
	spread := max(leastSpread, normalSpread*sizes[len(sizes)/2])
	for i, e := range inverse {
		u := e / (cauchyWidth * spread)
		inverse[i] = 1 + u*u
	}
	return inverse
}

// alike returns how alike two cells are, from 0 to 1.
func (k kinship) alike(a, b cell) float64 {
	jobs, others := k.likeness.At(a.job, b.job), k.likeness.At(a.other, b.other)
	alike := shareOfPairs*jobs*others + (1-shareOfPairs)/2*(jobs+others)
	if k.families == nil {
		return alike
	}
	alike *= 1 - shareOfFamilies
	if k.families[a.job] == k.families[b.job] && k.families[a.other] == k.families[b.other] {
		alike += shareOfFamilies
	}
	return alike
}

// at returns the expected residual at a cell.
func (k *kriging) at(c cell, predicted float64) float64 {
	amplitude, slopes, total := amplitudeOf(predicted), k.drift.of(c), 0.0
	for i, known := range k.cells {
		total += (amplitude*k.amplitude[i]*k.alike(c, known) + k.drift.covariance(c, known, slopes, k.slopes[i])) * k.weights[i]
	}
	return total
}
