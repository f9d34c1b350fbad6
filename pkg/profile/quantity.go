package profile

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Fraction returns a quantity, to a millionth.
func Fraction(f float64) *resource.Quantity {
	return new(resource.MustParse(strconv.FormatFloat(f, 'f', 6, 64)))
}

// Nearest returns the number that is nearest to a quantity. The quantity's own
// approximation makes 0.9500000000000001 of 0.95.
func Nearest(q *resource.Quantity) float64 {
	decimal := q.DeepCopy() // which asking for its digits changes
	value, err := strconv.ParseFloat(decimal.AsDec().String(), 64)
	if err != nil {
		return q.AsApproximateFloat64()
	}
	return value
}
