package fit

import (
	"math"

	"gonum.org/v1/gonum/optimize"
)

const (
	// mostVaried is the largest number of cells that variances are estimated from, and
	// variedSteps bounds the likelihoods that it takes: variances are a few numbers, and
	// more cells hardly change them.
	mostVaried, variedSteps = 100, 200
	// leastVariance is the smallest variance of a logarithm that likelihoods distinguish.
	leastVariance = 1e-6
)

// variances are those of the [effects], in a unit of their own: only their ratios matter.
type variances struct {
	job, other             float64 // of the effects of a job and of the other
	ownFamily, otherFamily float64 // of the effects of their families
	families               float64 // of that of two families together
	mixed                  float64 // of that of a job and the other's family, and of a family and the other
	noise                  float64 // the part of the costs of company that effects cannot explain
	measured               float64 // of the relative error of a measurement
}

// expectedVariances are those that estimates are drawn towards.
func expectedVariances() variances {
	return variances{job: 1, other: 1, ownFamily: 1, otherFamily: 1, families: 1, mixed: 0.5, noise: 0.05, measured: 0.001}
}

// free returns the variances that are estimated: without families theirs do not matter,
// and one is the unit.
func (v *variances) free(families bool) []*float64 {
	if !families {
		return []*float64{&v.noise, &v.measured, &v.other}
	}
	return []*float64{&v.noise, &v.measured, &v.job, &v.other, &v.otherFamily, &v.families, &v.mixed}
}

// estimateVariances returns the most likely variances of the effects in some cells (Patterson and Thompson, Biometrika
// 58, 1971: the likelihood is restricted, as the mean is practically unknown). Each is drawn towards its expected value:
// its logarithm is taken to have a standard deviation of 1 about that. With too few cells they have their expected
// values. It takes O([mostVaried]³) time.
func estimateVariances(families []string, cells []cell, dilations []float64) variances {
	number := len(cells)
	if number < fewestEffects {
		return expectedVariances()
	}
	if number > mostVaried {
		some, of := make([]cell, mostVaried), make([]float64, mostVaried)
		for i := range some {
			some[i], of[i] = cells[i*number/mostVaried], dilations[i*number/mostVaried]
		}
		cells, dilations = some, of
	}
	scaled := func(logs []float64) variances {
		v := expectedVariances()
		for i, value := range v.free(families != nil) {
			*value *= math.Exp(logs[i])
		}
		return v
	}
	v := expectedVariances()
	start := make([]float64, len(v.free(families != nil)))
	problem := optimize.Problem{Func: func(logs []float64) float64 {
		e := newEffects(families, scaled(logs), cells, dilations)
		if e == nil {
			return math.MaxFloat64
		}
		total := -e.logLikelihood()
		for _, x := range logs {
			total += x * x / 2
		}
		return total
	}}
	found, err := optimize.Minimize(problem, start, &optimize.Settings{FuncEvaluations: variedSteps}, &optimize.NelderMead{})
	if err != nil || found == nil {
		return expectedVariances()
	}
	return scaled(found.X)
}

// logLikelihood returns the log-likelihood of the data that the effects were estimated from, whatever the unit of the
// variances, except for a constant.
func (e *effects) logLikelihood() float64 {
	determinant := 0.0
	for i := range e.factor.N {
		determinant += 2 * math.Log(math.Abs(e.factor.Data[i*e.factor.Stride+i]))
	}
	return -(determinant + float64(len(e.cells)-1)*math.Log(e.unit+leastVariance)) / 2
}
