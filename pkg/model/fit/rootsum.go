package fit

import "math"

// RootSumOfSquares adds up the costs of several others to a job as independent errors, to less than
// their sum and more than the worst of them:
//
//	λ_j = 1 + √(Σ_{k≠j} (s_j·q_k)²)
//
// It is the norm with p = 2 of the costs of single companions, by which effects on one
// threshold are pooled (Quick, Kybernetik 16, 1974), half-way between their sum and
// [WorstCompanion]: of n equal companions it is √n times that of one.
type RootSumOfSquares struct{}

// Name implements [Predictor].
func (RootSumOfSquares) Name() string { return "root sum of squares" }

// Dilations implements [Predictor].
func (RootSumOfSquares) Dilations(sensitivity, pressure [][]float64, dilations []float64) {
	for j := range sensitivity {
		squares := 0.0
		for k, q := range pressure {
			if k != j {
				cost := dot(sensitivity[j], q)
				squares += cost * cost
			}
		}
		dilations[j] = 1 + math.Sqrt(squares)
	}
}
