package chart

import (
	"io"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// everyQuantile describes some values by all there is to say about them.
func everyQuantile(name string, values []float64) Sample {
	sorted := slices.Sorted(slices.Values(values))
	summary := summarizeSorted(sorted)
	sample := Sample{Name: name, Mean: summary.Mean, Count: len(values), Quantiles: []Quantile{{0, sorted[0]}}}
	for i, x := range sorted {
		sample.Quantiles = append(sample.Quantiles, Quantile{float64(i+1) / float64(len(sorted)), x})
	}
	return sample
}

func TestASampleLooksTheSameByItsValuesAndByAllItsQuantiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values")
		byValues, byQuantiles := newCurve(0, Sample{Name: "a", Values: values}), newCurve(0, everyQuantile("a", values))
		if diff := cmp.Diff(byValues.summary, byQuantiles.summary); diff != "" {
			t.Errorf("summaries differ (-values +quantiles):\n%s", diff)
		}
		for _, x := range append(slices.Clone(values), -2e6, 0, 2e6) {
			if a, b := byValues.steps.atOrBelow(x), byQuantiles.steps.atOrBelow(x); a != b && x != slices.Min(values) {
				t.Errorf("at or below %v: %v by values, %v by quantiles", x, a, b)
			}
		}
	})
}

func TestAMillionValuesAreShownByAFewQuantiles(t *testing.T) {
	t.Parallel()
	wantTexts(t, Distribution{Quantity: "dilation", Unit: "×", Samples: []Sample{{
		Name: "least dilation", Count: 1_000_000, Mean: 1.31,
		Quantiles: []Quantile{{0, 1}, {0.5, 1.2}, {0.95, 2.1}, {0.99, 3.4}, {1, 17.3}},
	}}}, "least dilation", "1.31×", "2.10×", "17.3×", "1,000,000")
}

func TestEqualQuantilesAreOneStep(t *testing.T) {
	t.Parallel()
	sample := Sample{Name: "a", Count: 10, Mean: 1.5, Quantiles: []Quantile{{0, 1}, {0.3, 1}, {0.6, 1}, {1, 2}}}
	want := steps{{0.6, 1}, {1, 2}}
	if diff := cmp.Diff(want, stepsOf(sample, nil)); diff != "" {
		t.Errorf("steps differ (-want +got):\n%s", diff)
	}
}

func TestQuantilesThatCannotBeDrawnSayWhichField(t *testing.T) {
	t.Parallel()
	ends := []Quantile{{0, 1}, {1, 2}}
	for name, c := range map[string]struct {
		sample Sample
		want   string
	}{
		"values too":     {Sample{Values: []float64{1}, Quantiles: ends}, `has both values and quantiles; give one of them`},
		"no count":       {Sample{Quantiles: ends, Mean: 1.5}, `count: 0 is not at least 1`},
		"no least value": {Sample{Quantiles: []Quantile{{0.5, 1}, {1, 2}}, Count: 5}, `quantiles: lead from fraction 0.5 to 1; give those of 0 (the least value) and 1 (the largest) too`},
		"no largest":     {Sample{Quantiles: []Quantile{{0, 1}}, Count: 5}, `quantiles: lead from fraction 0 to 0; give those of 0 (the least value) and 1 (the largest) too`},
		"not a number":   {Sample{Quantiles: []Quantile{{0, math.NaN()}, {1, 2}}, Count: 5}, `quantiles[0].value: NaN is not a finite number within ±1e+290`},
		"fractions fall": {Sample{Quantiles: []Quantile{{0, 1}, {0.9, 1}, {0.9, 1}, {1, 2}}, Count: 5}, `quantiles[2].fraction: 0.9 is not above 0.9, the one before`},
		"values fall":    {Sample{Quantiles: []Quantile{{0, 1}, {0.5, 3}, {1, 2}}, Count: 5}, `quantiles[2].value: 2 is below 3, the one before`},
		"mean outside":   {Sample{Quantiles: ends, Count: 5, Mean: 2.1}, `mean: 2.1 is not between the least value, 1, and the largest, 2`},
		"mean missing":   {Sample{Quantiles: ends, Count: 5, Mean: math.NaN()}, `mean: NaN is not between the least value, 1, and the largest, 2`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.sample.Name = "a"
			err := Encode(io.Discard, Distribution{Quantity: "x", Samples: []Sample{c.sample}}, SVG)
			if want := `samples[0] ("a"): ` + c.want; errorText(err) != want {
				t.Errorf("error = %v\nwant    %s", err, want)
			}
		})
	}
}
