package chart

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// accuracy holds the errors of predictions, as fractions of the measured values: |predicted −
// measured| / measured.
type accuracy struct {
	count int
	mean  float64 // the mean absolute percentage error is 100 times this
	p90   float64 // at least 90% of the errors are within it; a quantile as in [Summary]
}

// accuracyOf takes pairs that were checked; at least one.
func accuracyOf(pairs []Pair) accuracy {
	errors := make([]float64, len(pairs))
	for i, pair := range pairs {
		errors[i] = math.Abs(pair.Predicted-pair.Measured) / pair.Measured
	}
	slices.Sort(errors)
	return accuracy{
		count: len(errors),
		mean:  stat.Mean(errors, nil),
		p90:   stat.Quantile(0.9, stat.Empirical, errors, nil),
	}
}
