package chart

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Sample is a named set of values, given by the values themselves or, where
// they are too many to keep, by their quantiles, mean and count.
type Sample struct {
	// Name identifies the sample in the legend, "kube-scheduler" say; not empty
	// and unique in its chart.
	Name string
	// Values are finite, in any order, and not changed; at least one. Without them there are
	// Quantiles.
	Values []float64
	// Quantiles in rising order of their fractions, from the least value
	// (fraction 0) to the largest (fraction 1). The curve has a step for each: a
	// thousand look smooth, and one at 0.95 makes the legend's p95 exact.
	Quantiles []Quantile
	// Mean and Count, at least 1, are those of the values that Quantiles
	// describe. They are computed where there are Values.
	Mean  float64
	Count int
}

// Quantile is the least value that at least a fraction of a sample does not
// exceed, as in [Summary].
type Quantile struct {
	// Fraction of the sample, from 0 to 1; 0 stands for the least value.
	Fraction float64
	// Value is finite, in the sample's own unit.
	Value float64
}

func (s Sample) check() error {
	switch {
	case len(s.Quantiles) == 0:
		return checkSample(s.Values)
	case len(s.Values) > 0:
		return errors.New("has both values and quantiles; give one of them")
	case s.Count < 1:
		return fmt.Errorf("count: %d is not at least 1", s.Count)
	}
	first, last := s.Quantiles[0], s.Quantiles[len(s.Quantiles)-1]
	if first.Fraction != 0 || last.Fraction != 1 || len(s.Quantiles) < 2 {
		return fmt.Errorf("quantiles: lead from fraction %v to %v; give those of 0 (the least value) and 1 (the largest) too", first.Fraction, last.Fraction)
	}
	for k, q := range s.Quantiles {
		if err := checkNumber(q.Value); err != nil {
			return fmt.Errorf("quantiles[%d].value: %w", k, err)
		}
		if k == 0 {
			continue
		}
		if before := s.Quantiles[k-1]; !(q.Fraction > before.Fraction) {
			return fmt.Errorf("quantiles[%d].fraction: %v is not above %v, the one before", k, q.Fraction, before.Fraction)
		} else if q.Value < before.Value {
			return fmt.Errorf("quantiles[%d].value: %v is below %v, the one before", k, q.Value, before.Value)
		}
	}
	rounding := 1e-9 * math.Max(math.Abs(first.Value), math.Abs(last.Value)) // of the sum that the mean is of
	if !(s.Mean >= first.Value-rounding && s.Mean <= last.Value+rounding) {
		return fmt.Errorf("mean: %v is not between the least value, %v, and the largest, %v", s.Mean, first.Value, last.Value)
	}
	return nil
}

// steps are a distribution function: quantiles[k].Fraction of a sample is at or
// below quantiles[k].Value. Both rise, and the last fraction is 1.
type steps []Quantile

// stepsOf takes a sample that was checked, and sorted values if it has values.
func stepsOf(s Sample, sorted []float64) steps {
	all := make(steps, 0, len(sorted)+len(s.Quantiles))
	for i, x := range sorted {
		all = append(all, Quantile{Fraction: float64(i+1) / float64(len(sorted)), Value: x})
	}
	all = append(all, s.Quantiles...)
	// Of equal values the last one counts.
	slices.Reverse(all)
	all = slices.CompactFunc(all, func(a, b Quantile) bool { return a.Value == b.Value })
	slices.Reverse(all)
	return all
}

func (s steps) least() float64   { return s[0].Value }
func (s steps) largest() float64 { return s[len(s)-1].Value }

// atOrBelow is the fraction of the sample that is not above x.
func (s steps) atOrBelow(x float64) float64 {
	above := sort.Search(len(s), func(i int) bool { return s[i].Value > x })
	if above == 0 {
		return 0
	}
	return s[above-1].Fraction
}

// quantile is the least value that at least the fraction p does not exceed.
func (s steps) quantile(p float64) float64 {
	k, _ := slices.BinarySearchFunc(s, p, func(q Quantile, p float64) int { return cmp.Compare(q.Fraction, p) })
	return s[min(k, len(s)-1)].Value
}

// summarize describes a sample that was checked.
func (s Sample) summarize(all steps, sorted []float64) Summary {
	if len(sorted) > 0 {
		return summarizeSorted(sorted)
	}
	return Summary{
		Count: s.Count, Mean: s.Mean,
		P50: all.quantile(0.50), P95: all.quantile(0.95), P99: all.quantile(0.99), Max: all.largest(),
	}
}
