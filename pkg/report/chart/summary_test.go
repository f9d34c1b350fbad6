package chart

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestASummaryOfKnownValuesIsExact(t *testing.T) {
	t.Parallel()
	hundred := make([]float64, 100) // 100, 99, …, 1
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for name, c := range map[string]struct {
		sample []float64
		want   Summary
	}{
		"one value":      {[]float64{3}, Summary{Count: 1, Mean: 3, P50: 3, P95: 3, P99: 3, Max: 3}},
		"two values":     {[]float64{4, 2}, Summary{Count: 2, Mean: 3, P50: 2, P95: 4, P99: 4, Max: 4}},
		"1 to 100":       {hundred, Summary{Count: 100, Mean: 50.5, P50: 50, P95: 95, P99: 99, Max: 100}},
		"below zero too": {[]float64{-1, 1, -3}, Summary{Count: 3, Mean: -1, P50: -1, P95: 1, P99: 1, Max: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := slices.Clone(c.sample)
			got, err := Summarize(c.sample)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("summary differs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, c.sample); diff != "" {
				t.Errorf("the sample was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestASampleThatCannotBeSummarizedIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sample []float64
		want   string
	}{
		"no values":    {nil, "has no values"},
		"not a number": {[]float64{1, math.NaN()}, "value 2: NaN is not a finite number within ±1e+290"},
		"infinite":     {[]float64{math.Inf(-1)}, "value 1: -Inf is not a finite number within ±1e+290"},
		"too large":    {[]float64{math.MaxFloat64}, "value 1: 1.7976931348623157e+308 is not a finite number within ±1e+290"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Summarize(c.sample); err == nil || err.Error() != c.want {
				t.Errorf("error = %v, want %s", err, c.want)
			}
		})
	}
}

func TestAQuantileIsTheLeastValueThatEnoughOfTheSampleDoesNotExceed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 200).Draw(t, "sample")
		got, err := Summarize(sample)
		if err != nil {
			t.Fatal(err)
		}
		atMost := func(limit float64) int {
			n := 0
			for _, x := range sample {
				if x <= limit {
					n++
				}
			}
			return n
		}
		below := func(limit float64) int { return atMost(math.Nextafter(limit, math.Inf(-1))) }
		for p, q := range map[float64]float64{0.50: got.P50, 0.95: got.P95, 0.99: got.P99} {
			need := p * float64(len(sample))
			if float64(atMost(q)) < need || float64(below(q)) >= need {
				t.Errorf("the %v-quantile is %v: %d of %d values are at most that, %d below", p, q, atMost(q), len(sample), below(q))
			}
		}
		if got.Max != slices.Max(sample) {
			t.Errorf("max = %v", got.Max)
		}
	})
}
