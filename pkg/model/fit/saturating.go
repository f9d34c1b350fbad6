package fit

import "slices"

// SaturatingSum adds up the costs of companions to a job where they are small, and bounds large
// sums by a ceiling C:
//
//	λ_j = 1 + C·(1 − Π_{k≠j} (1 − x_k/C)),  x_k = s_j·q_k
//
// This is a sum u of loads that has the effect 1 − exp(−u/C), a capacity that fills up (the
// probability of a union of independent events; Bliss, Annals of Applied Biology 26, 1939, calls it
// independent action). A single companion that costs more than the ceiling keeps its own cost.
type SaturatingSum struct {
	// Ceiling is the largest excess dilation of several companions. With 0 a fit sets it just above
	// the measurements.
	Ceiling float64
}

const (
	// aboveMeasured is the ceiling of a saturating sum over the largest excess dilation
	// that was measured, outliers aside, which are the share beyond nearlyAll.
	aboveMeasured = 1.1
	nearlyAll     = 0.98
)

// over returns the saturating sum with a ceiling for the measurements.
func (p SaturatingSum) over(samples []sample) SaturatingSum {
	if p.Ceiling > 0 || len(samples) == 0 {
		return p
	}
	excess := make([]float64, len(samples))
	for i, s := range samples {
		excess[i] = s.dilation - 1
	}
	slices.Sort(excess)
	return SaturatingSum{aboveMeasured * max(leastExcess, quantile(excess, nearlyAll))}
}

// Name implements [Predictor].
func (SaturatingSum) Name() string { return "saturating sum" }

// Dilations implements [Predictor].
func (p SaturatingSum) Dilations(sensitivity, pressure [][]float64, dilations []float64) {
	for j := range sensitivity {
		left, worst := 1.0, 0.0
		for k, q := range pressure {
			if k != j {
				cost := dot(sensitivity[j], q)
				worst = max(worst, cost)
				if cost > 0 {
					left *= max(0, 1-cost/p.Ceiling)
				}
			}
		}
		dilations[j] = 1 + max(worst, p.Ceiling*(1-left))
	}
}
