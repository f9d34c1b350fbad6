package fit

// Predictor computes the dilations of a node's jobs from their sensitivities and pressures. Any
// solver of the contention model can be plugged in; [Fit] needs no derivatives of it. It must give
// the first-order dilation to jobs that are alone or in pairs, and scale with it elsewhere, because
// fitting is a sequence of first-order fits to corrected dilations.
type Predictor interface {
	// Name is how reports call the predictor.
	Name() string
	// Dilations writes into dilations how much each job of a node is dilated,
	// at least 1. sensitivity[j][i] and pressure[j][i], at least 0, are those of
	// the node's j-th job at resource i.
	Dilations(sensitivity, pressure [][]float64, dilations []float64)
}

// Predictors returns all that there are. In pairs they are the same.
func Predictors() []Predictor {
	return []Predictor{FirstOrder{}, SecondOrder{}, SaturatingSum{}, RootSumOfSquares{}, WorstCompanion{}}
}

// FirstOrder takes the others to be where their pressures say, wherever the job
// itself is: λ_j = 1 + s_j·Σ_{k≠j} q_k, Eq. (5) of the D-factor paper. Nothing
// changes when the sensitivities at a resource are halved and the pressures
// doubled, so where resources are hidden their scale is a convention.
type FirstOrder struct{}

// Name implements [Predictor].
func (FirstOrder) Name() string { return "first order" }

// Dilations implements [Predictor].
func (FirstOrder) Dilations(sensitivity, pressure [][]float64, dilations []float64) {
	for j, s := range sensitivity {
		dilations[j] = 1
		for k, q := range pressure {
			if k != j {
				dilations[j] += dot(s, q)
			}
		}
	}
}

// SecondOrder takes the others to be where they are when they dilate each
// other, to first order:
//
//	λ_j = 1 + Σ_{k≠j} Σ_i s_ij q_ik (1 + a_i) / (1 + s_k·a),  a = Σ_{l≠j,k} q_l
//
// This is two steps of the recursion of exact mean value analysis (Reiser and
// Lavenberg, JACM 1980) where the first order is one: exact for up to three
// jobs, and off by 2.5 % where the first order is off by 12 % (eight jobs, two
// resources). It takes O(n²·m) time.
type SecondOrder struct{}

// Name implements [Predictor].
func (SecondOrder) Name() string { return "second order" }

// Dilations implements [Predictor].
func (SecondOrder) Dilations(sensitivity, pressure [][]float64, dilations []float64) {
	if len(sensitivity) == 0 {
		return
	}
	total := make([]float64, len(sensitivity[0]))
	for _, q := range pressure {
		for i, v := range q {
			total[i] += v
		}
	}
	for j, s := range sensitivity {
		dilations[j] = 1
		for k, q := range pressure {
			if k == j {
				continue
			}
			wait, dilated := 0.0, 1.0
			for i := range total {
				rest := max(0, total[i]-pressure[j][i]-q[i])
				wait += s[i] * q[i] * (1 + rest)
				dilated += sensitivity[k][i] * rest
			}
			dilations[j] += wait / dilated
		}
	}
}

// isFirstOrder reports whether a predictor is the first order itself.
func isFirstOrder(p Predictor) bool {
	_, first := p.(FirstOrder)
	return first
}

// scaleFree reports whether a predictor leaves the scale of hidden resources open: those do that
// depend on the costs of single companions only.
func scaleFree(p Predictor) bool {
	switch p.(type) {
	case FirstOrder, RootSumOfSquares, SaturatingSum, WorstCompanion:
		return true
	}
	return false
}

func dot(a, b []float64) float64 {
	total := 0.0
	for i, v := range a {
		total += v * b[i]
	}
	return total
}
