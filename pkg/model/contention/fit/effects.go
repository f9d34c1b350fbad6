package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// flatMean is the variance of the mean of all over that of an effect: it is as good
	// as unknown.
	flatMean = 1e3
	// effectNoise is the variance of a measurement over that of an effect.
	effectNoise = 0.05
	// halfShared is the variance of what one job and one family have in common over
	// that of an effect.
	halfShared = 0.5
	// leastCost is added to what company costs, so that its logarithm is that of a number.
	leastCost = 0.02
	// fewestEffects is from how many dilations of pairs on effects are estimated.
	fewestEffects = 8
)

// effects predict what jobs cost each other in pairs by crossed random effects (Searle,
// Casella and McCulloch, Variance Components, 1992, chapter 7), of the job, of the other,
// and, where names count, of their families F:
//
//	log(λ_jk − 1 + leastCost) = μ + a_j + b_k + A_F(j) + B_F(k) + C_F(j)F(k) + D_jF(k) + E_F(j)k + ε
//
// Predictions are the best linear unbiased ones (Henderson, Biometrics 31, 1975), which is
// Gaussian-process regression by what two cells have in common. A job of few dilations is
// drawn towards its family, and a family towards the average one, so that it takes far
// fewer runs than vectors do; with many it cannot follow what vectors explain. Noise is
// Cauchy's, see [krige].
type effects struct {
	families []string // per job; nil where names do not count
	cells    []cell
	weights  []float64 // per cell, the inverse covariance times the logarithm
	factor   blas64.Triangular
	variance float64 // of an effect
}

// newEffects learns from the dilations of some cells. It takes O(cells³) time, and
// returns nil where there are too few.
func newEffects(families []string, cells []cell, dilations []float64) *effects {
	n := len(cells)
	if n < fewestEffects {
		return nil
	}
	e := &effects{families: families, cells: cells}
	covariance := mat.NewSymDense(n, nil)
	logs := make([]float64, n)
	for i, a := range cells {
		logs[i] = math.Log(max(0, dilations[i]-1) + leastCost)
		for j, b := range cells[:i+1] {
			covariance.SetSym(i, j, e.covariance(a, b))
		}
	}
	var ok bool
	if e.weights, e.factor, ok = krige(covariance, effectNoise, logs, slices.Repeat([]float64{1}, n)); !ok {
		return nil
	}
	e.variance = floats.Dot(logs, e.weights) / float64(n)
	return e
}

// covariance returns that of two cells, in variances of an effect.
func (e *effects) covariance(a, b cell) float64 {
	total := flatMean
	if a.job == b.job {
		total++
	}
	if a.other == b.other {
		total++
	}
	if e.families == nil {
		return total
	}
	own, others := e.families[a.job] == e.families[b.job], e.families[a.other] == e.families[b.other]
	if own {
		total++
	}
	if others {
		total++
	}
	if own && others {
		total++
		if a.job == b.job {
			total += halfShared
		}
		if a.other == b.other {
			total += halfShared
		}
	}
	return total
}

// at returns the logarithm of the dilation of a cell.
func (e *effects) at(c cell) float64 {
	cost := 0.0
	for i, known := range e.cells {
		cost += e.covariance(c, known) * e.weights[i]
	}
	return math.Log(max(1, 1-leastCost+math.Exp(cost)))
}

// deviation returns the standard deviation of the logarithm of the dilation of a cell,
// that of a measurement aside. It takes O(cells²) time.
func (e *effects) deviation(c cell) float64 {
	shared := make([]float64, len(e.cells))
	for i, known := range e.cells {
		shared[i] = e.covariance(c, known)
	}
	cost := math.Exp(floats.Dot(shared, e.weights))
	solved := slices.Clone(shared)
	solve(e.factor, solved)
	left := max(0, e.covariance(c, c)-floats.Dot(shared, solved))
	return math.Sqrt(e.variance*left) * cost / max(1, 1-leastCost+cost)
}
