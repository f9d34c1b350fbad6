package fit

// WorstCompanion takes a job to be dilated by that one of the others which dilates it
// most, and no further by the rest:
//
//	λ_j = 1 + max_{k≠j} s_j·q_k
//
// This holds for a loss that counts only once, such as a cache that any of several jobs flushes:
// the tropical limit, p → ∞, of the norms of which the first order is p = 1 and [RootSumOfSquares]
// p = 2.
type WorstCompanion struct{}

// Name implements [Predictor].
func (WorstCompanion) Name() string { return "worst companion" }

// Dilations implements [Predictor].
func (WorstCompanion) Dilations(sensitivity, pressure [][]float64, dilations []float64) {
	for j := range sensitivity {
		worst := 0.0
		for k, q := range pressure {
			if k != j {
				worst = max(worst, dot(sensitivity[j], q))
			}
		}
		dilations[j] = 1 + worst
	}
}
