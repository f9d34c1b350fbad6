// Package fair shares a budget by max-min fairness: a source that wants little gets it, and the rest is shared equally by those
// that want more. So whatever one of n wants, no other gets less than its demand or the n-th part of the budget, whichever is
// less.
package fair

import "slices"

// Level returns the most that each may have, so that all together have no more than a budget: the largest number L with
// Σ min(wᵢ, L) ≤ budget, which is the budget itself where all fit. Neither the budget nor a want may be negative.
func Level(budget int, wants []int) int {
	sorted, left := slices.Sorted(slices.Values(wants)), budget
	for i, want := range sorted {
		more := len(sorted) - i // that want at least as much
		if want > left/more {
			return left / more
		}
		left -= want
	}
	return budget
}
