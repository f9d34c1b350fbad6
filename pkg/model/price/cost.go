package price

// CostTolerance is the relative difference within which two costs are the same: sums of the same numbers in another order.
const CostTolerance = 1e-12

// SameCost reports whether a cost is the same as a lower one, to within [CostTolerance].
func SameCost(lower, cost float64) bool { return cost-lower <= CostTolerance*cost }
