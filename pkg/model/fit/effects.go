package fit

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// flatMean is the variance of the mean of all over that of an effect: it is as good
	// as unknown.
	flatMean = 1e3
	// leastCost is added to the cost of company, so that its logarithm is that of a number.
	leastCost = 0.02
	// fewestEffects is from how many dilations of pairs on effects are estimated.
	fewestEffects = 8
)

// effects predict the cost of jobs to each other in pairs by crossed random effects (Searle, Casella and McCulloch, Variance
// Components, 1992, chapter 7), of the job, of the other, and, where names count, of their families F:
//
//	log(λ_jk − 1 + leastCost) = μ + a_j + b_k + A_F(j) + B_F(k) + C_F(j)F(k) + D_jF(k) + E_F(j)k + ε
//
// Predictions are the best linear unbiased ones (Henderson, Biometrics 31, 1975), which is Gaussian-process regression by the
// common effects of two cells. A job with few dilations is drawn towards its family, and a family towards the average one, so that
// it takes far fewer runs than vectors do; with many it cannot follow all that vectors explain. The noise of the logarithm is the
// larger the smaller the cost of company. Noise is Cauchy's, see [krige].
type effects struct {
	names []string // of the families, per job; nil where they do not count
	variances
	cells   []cell
	weights []float64 // per cell, the inverse covariance times the logarithm
	factor  blas64.Triangular
	unit    float64 // of the variances

	predicted sync.Map // [expected] by cell
}

// newEffects learns from the dilations of some cells. It takes O(cells³) time, and
// returns nil where there are too few.
func newEffects(families []string, v variances, cells []cell, dilations []float64) *effects {
	n := len(cells)
	if n < fewestEffects {
		return nil
	}
	e := &effects{names: families, variances: v, cells: cells}
	covariance := mat.NewSymDense(n, nil)
	logs, noise := make([]float64, n), make([]float64, n)
	for i, a := range cells {
		cost := max(0, dilations[i]-1) + leastCost
		slope := dilations[i] / cost
		logs[i], noise[i] = math.Log(cost), v.noise+slope*slope*v.measured
		for j, b := range cells[:i+1] {
			covariance.SetSym(i, j, e.covariance(a, b))
		}
	}
	var ok bool
	if e.weights, e.factor, ok = krige(covariance, noise, logs, slices.Repeat([]float64{1}, n)); !ok {
		return nil
	}
	e.unit = floats.Dot(logs, e.weights) / float64(n)
	return e
}

// covariance returns that of two cells, in the unit of the variances.
func (e *effects) covariance(a, b cell) float64 {
	total := flatMean
	if a.job == b.job {
		total += e.job
	}
	if a.other == b.other {
		total += e.other
	}
	if e.names == nil {
		return total
	}
	own, others := e.names[a.job] == e.names[b.job], e.names[a.other] == e.names[b.other]
	if own {
		total += e.ownFamily
	}
	if others {
		total += e.otherFamily
	}
	if own && others {
		total += e.families
		if a.job == b.job {
			total += e.mixed
		}
		if a.other == b.other {
			total += e.mixed
		}
	}
	return total
}

// expected is the effects' prediction of a cell: the logarithm of its dilation, and the standard deviation of that, without the
// noise of a measurement; infinite where nothing links the job and the other.
type expected struct{ log, deviation float64 }

// at returns the prediction of a cell. It takes O(cells²) time, once for each.
func (e *effects) at(c cell) expected {
	if known, found := e.predicted.Load(c); found {
		if one, is := known.(expected); is {
			return one
		}
	}
	one := e.predict(c)
	e.predicted.Store(c, one)
	return one
}

// predict returns the dilation of the least expected relative error |λ̂/λ − 1|, by which
// models are chosen: the median weighted by 1/λ. Where the logarithm of what company costs
// is normal, that is below the median by its variance, times how much of the dilation is
// such costs.
func (e *effects) predict(c cell) expected {
	shared := make([]float64, len(e.cells))
	for i, known := range e.cells {
		shared[i] = e.covariance(c, known)
	}
	median := floats.Dot(shared, e.weights)
	blas64.Trsv(blas.Trans, e.factor, blas64.Vector{N: len(shared), Inc: 1, Data: shared})
	variance := e.unit * (e.noise + max(0, e.covariance(c, c)-floats.Dot(shared, shared)))
	part := math.Exp(median) / max(1, 1-leastCost+math.Exp(median))
	deviation := part * math.Sqrt(variance)
	if !e.connected(c) {
		deviation = math.Inf(1)
	}
	return expected{math.Log(max(1, 1-leastCost+math.Exp(median-part*variance))), deviation}
}

// connected reports whether a chain of cells, each with the job or the other of the one before, leads from the job of a cell to its
// other, as in a connected two-way design. Where none does, the jobs are of groups that never met, and that one group costs as much as
// another is a guess. Families of jobs link their members.
func (e *effects) connected(c cell) bool {
	if e.names != nil {
		return true
	}
	jobs, others := map[int]bool{c.job: true}, map[int]bool{}
	for grown := true; grown && !others[c.other]; {
		grown = false
		for _, known := range e.cells {
			if jobs[known.job] != others[known.other] {
				jobs[known.job], others[known.other], grown = true, true, true
			}
		}
	}
	return others[c.other]
}
