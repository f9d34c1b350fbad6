package fit

import (
	"cmp"
	"math"
	"slices"
)

// mostShared is among how many observations, those that matter most to a
// function, the correlations of residuals are counted.
const mostShared = 200

// worth returns the degrees of freedom that the residuals give to the variance Σ d_i e_i² of a
// function, share[i] = d_i (1 − h_i) being the share of observation i in it and h the leverages: (Σ
// share)² / Σ_ij d_i d_j (δ_ij − h_ij)², Eq. (5) of Bell and McCaffrey, Survey Methodology 28,
// 2002, for noise that is equal everywhere. Residuals are correlated by the unknowns fitted to
// them: three observations of one mean are worth two. It takes O(observations · log observations +
// mostShared · (unknowns + mostShared)) time.
func (c *covariance) worth(share []float64) float64 {
	total, squares := 0.0, 0.0
	order := make([]int, 0, len(share))
	for i, v := range share {
		total += v
		squares += v * v
		if v > 0 {
			order = append(order, i)
		}
	}
	if squares == 0 { // or so small that it is lost
		return math.Inf(1)
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(share[y], share[x]) })
	order = order[:min(len(order), mostShared)]
	for n, i := range order {
		e := &c.equations[i]
		reach := c.times(e.terms)
		for _, k := range order[:n] {
			f := &c.equations[k]
			both := along(f.terms, reach)
			squares += 2 * share[i] / (1 - e.leverage) * share[k] / (1 - f.leverage) * e.weight * f.weight * both * both
		}
	}
	return total * total / squares
}
