package probing

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the coverage of all intervals.
const confidence = 0.95

// Estimate is a measured value, with its error where that is known.
type Estimate struct {
	// Value is the best guess.
	Value float64
	// Error is the half width of its 95 % confidence interval, at least 0. It is
	// +Inf for a single sample, which tells nothing of its error.
	Error float64
	// Samples is the number of samples it was made of. 0: it was not measured, and
	// Value and Error mean nothing.
	Samples int
}

// Taken reports whether the value was measured at all.
func (e Estimate) Taken() bool { return e.Samples > 0 }

// String returns the value with its error, such as "0.582 ± 0.014".
func (e Estimate) String() string {
	if !e.Taken() {
		return "not measured"
	}
	return fmt.Sprintf("%.3f ± %.3f", e.Value, e.Error)
}

// fraction returns the estimate with its value kept between 0 and 1.
func (e Estimate) fraction() Estimate {
	e.Value = min(1, max(0, e.Value))
	return e
}

// GeometricMean returns the mean of positive, finite quantities whose errors are
// relative, such as completion times or ratios of rates. The error is half the length
// of the 95 % interval. At least one value is needed; an error names the first that
// is not positive and finite.
//
// It is the mean of their logarithms, with Student's interval. Five or more values
// may have outliers among them (a neighbour that came and went, a page that was not
// in memory), so the highest and the lowest are left out, and for 20 and more values
// a tenth at each end; the interval is then that of a trimmed mean by Tukey and
// McLaughlin (Sankhyā A 25, 1963): the variance is that of the values with the
// outliers moved to the nearest of the rest, and the degrees of freedom are those of
// the rest. An outlier counts as much as any other large value, however far out it
// is. On normal noise the interval covers the truth in 94 to 95 % of all cases; with
// one outlier in ten values, all on one side, the mean moves by a fifth of the
// standard deviation of one value.
func GeometricMean(values []float64) (Estimate, error) {
	logs, err := logarithms(values)
	if err != nil {
		return Estimate{}, err
	}
	center, margin := mean(logs)
	return through(center, margin, len(values), math.Exp), nil
}

// logarithms returns those of positive, finite values.
func logarithms(values []float64) ([]float64, error) {
	logs := make([]float64, len(values))
	for k, v := range values {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("values[%d]: %v is not a positive, finite number", k, v)
		}
		logs[k] = math.Log(v)
	}
	if len(logs) == 0 {
		return nil, fmt.Errorf("values: there is none")
	}
	return logs, nil
}

// through returns the estimate of a growing function of a measured quantity, from the mean and the
// half width of the interval of the latter.
func through(center, margin float64, samples int, growing func(float64) float64) Estimate {
	e := Estimate{Value: growing(center), Error: math.Inf(1), Samples: samples}
	if !math.IsInf(margin, 1) {
		e.Error = (growing(center+margin) - growing(center-margin)) / 2
	}
	return e
}

// mean returns the trimmed mean of at least one value and the half width of its
// interval: +Inf for one value. It sorts the values.
func mean(values []float64) (center, margin float64) {
	slices.Sort(values)
	n := len(values)
	out := trimmed(n)
	rest := values[out : n-out]
	kept := float64(len(rest))
	center = floats.Sum(rest) / kept
	if n == 1 {
		return center, math.Inf(1)
	}
	// The outliers count as the nearest of the rest.
	lowest, highest := rest[0], rest[len(rest)-1]
	middle := center*kept + float64(out)*(lowest+highest)
	middle /= float64(n)
	squares := float64(out) * ((lowest-middle)*(lowest-middle) + (highest-middle)*(highest-middle))
	for _, v := range rest {
		squares += (v - middle) * (v - middle)
	}
	return center, quantile(n) * math.Sqrt(squares/(kept*(kept-1)))
}

// trimmed returns how many of n values are left out at each end.
func trimmed(n int) int {
	if n < 5 {
		return 0
	}
	return max(1, n/10)
}

// quantile returns how many standard errors the interval of n ≥ 2 values extends.
func quantile(n int) float64 {
	freedom := float64(n - 2*trimmed(n) - 1)
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
}
