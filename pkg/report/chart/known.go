package chart

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/pkg/text"
)

// knownOf returns the values that are not NaN.
func knownOf(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

// rangeOf writes the mean, the least and the largest of some values.
func rangeOf(values []float64, unit string) []string {
	if len(values) == 0 {
		return []string{text.Absent, text.Absent, text.Absent}
	}
	return []string{text.Value(stat.Mean(values, nil)) + unit, text.Value(slices.Min(values)) + unit, text.Value(slices.Max(values)) + unit}
}

// paddedRange spans some values, at least one, with a little room beside them.
func paddedRange(values []float64) (low, high float64) {
	return padded(slices.Min(values), slices.Max(values), false)
}
