// Package fair shares a budget by max-min fairness: who wants little gets it, and what that leaves is shared equally by those who
// want more. So whatever one of n wants, no other gets less than what it wants or the n-th part of the budget, whichever is less.
package fair

import "slices"

// Level returns the most that each may have, so that all together have no more than a budget: the largest number L with
// Σ min(wᵢ, L) ≤ budget, which is the largest of the wants where all fit. No want may be negative.
func Level(budget int, wants []int) int {
	sorted := slices.Sorted(slices.Values(wants))
	for i, want := range sorted {
		more := len(sorted) - i // that want at least as much
		if want > budget/more {
			return budget / more
		}
		budget -= want
	}
	if len(sorted) == 0 {
		return budget
	}
	return sorted[len(sorted)-1]
}
