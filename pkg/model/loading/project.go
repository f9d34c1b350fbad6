package loading

import (
	"cmp"
	"slices"
)

// ProjectOntoSimplex makes values, each at least 0, add up to at most 1: they become the
// nearest such values, by squares of the distance over the variances. Those of values
// above 0 are above 0. It takes O(n log n) time.
func ProjectOntoSimplex(values, variances []float64) {
	excess := -1.0
	for _, v := range values {
		excess += v
	}
	if excess <= 0 {
		return
	}
	// The nearest point takes from each value in proportion to its variance, those
	// that reach 0 aside; which they are is found from the smallest value over
	// variance up.
	var order []int
	give := 0.0
	for i, v := range values {
		if v > 0 {
			order = append(order, i)
			give += variances[i]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(values[a]/variances[a], values[b]/variances[b])
	})
	for _, i := range order {
		if step := excess / give * variances[i]; values[i] > step {
			values[i] -= step
		} else {
			excess -= values[i]
			give -= variances[i]
			values[i] = 0
		}
	}
}
