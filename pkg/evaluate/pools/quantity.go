package pools

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// exactly returns the number that is nearest to a quantity. The quantity's own
// approximation makes 0.9500000000000001 of 0.95.
func exactly(q *resource.Quantity) float64 {
	value, err := strconv.ParseFloat(digits(q), 64)
	if err != nil {
		return q.AsApproximateFloat64()
	}
	return value
}

// digits writes a quantity as a plain number: 1.2, where its own way is 1200m.
func digits(q *resource.Quantity) string {
	decimal := q.DeepCopy() // which asking for its digits changes
	return decimal.AsDec().String()
}
