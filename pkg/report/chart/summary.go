package chart

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/pkg/text"
)

// Summary describes a sample by a few numbers, in the sample's own unit.
//
// The p-quantile is the smallest value of the sample that at least the
// fraction p of the sample does not exceed (type 1 of Hyndman and Fan, The
// American Statistician 50, 1996): it always is a value that occurred, and "at
// least 95% within P95" holds literally, as an SLA says it.
type Summary struct {
	// Count is the number of values, ≥ 1.
	Count int
	// Mean is the arithmetic mean.
	Mean float64
	// P50, P95 and P99 are quantiles; P50 is the (lower) median.
	P50, P95, P99 float64
	// Max is the largest value.
	Max float64
}

// Summarize describes a sample, in any order, without changing it. It refuses a sample that is
// empty or has a value that is not finite.
func Summarize(sample []float64) (Summary, error) {
	if err := checkSample(sample); err != nil {
		return Summary{}, err
	}
	return summarizeSorted(slices.Sorted(slices.Values(sample))), nil
}

// summarizeSorted is Summarize for a sample that was checked and sorted.
func summarizeSorted(sorted []float64) Summary {
	quantile := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, sorted, nil) }
	return Summary{
		Count: len(sorted),
		Mean:  stat.Mean(sorted, nil),
		P50:   quantile(0.50),
		P95:   quantile(0.95),
		P99:   quantile(0.99),
		Max:   sorted[len(sorted)-1],
	}
}

// maxMagnitude bounds the values of a sample, so that sums of them are finite.
const maxMagnitude = 1e290

func checkSample(sample []float64) error {
	if len(sample) == 0 {
		return errors.New("has no values")
	}
	for i, x := range sample {
		if err := checkNumber(x); err != nil {
			return fmt.Errorf("value %s: %w", text.Count(int64(i+1)), err)
		}
	}
	return nil
}

func checkNumber(x float64) error {
	if !(x >= -maxMagnitude && x <= maxMagnitude) {
		return fmt.Errorf("%v is not a finite number within ±%v", x, maxMagnitude)
	}
	return nil
}
