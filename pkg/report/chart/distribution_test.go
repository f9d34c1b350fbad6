package chart

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestADistributionNamesItsAxesSamplesAndFigures(t *testing.T) {
	t.Parallel()
	wantTexts(t, twoSamples(),
		"Dilation", "dilation (×)", "fraction of pods at or below", "95%",
		"kube-scheduler", "1.75×", "2.60×", // mean, p95 and max by hand
		"Loadline", "1.21×", "1.50×", "4")
}

func TestADistributionThatCannotBeDrawnSaysWhichField(t *testing.T) {
	t.Parallel()
	good := Sample{Name: "a", Values: []float64{1}}
	for name, c := range map[string]struct {
		chart Distribution
		want  string
	}{
		"no quantity":  {Distribution{Samples: []Sample{good}}, `quantity: is empty; name what the values measure`},
		"no samples":   {Distribution{Quantity: "x"}, `samples: there are 0; a chart shows 1 to 10`},
		"many samples": {Distribution{Quantity: "x", Samples: make([]Sample, 11)}, `samples: there are 11; a chart shows 1 to 10`},
		"no name":      {Distribution{Quantity: "x", Samples: []Sample{{Values: []float64{1}}}}, `samples[0].name: is empty`},
		"a name twice": {Distribution{Quantity: "x", Samples: []Sample{good, good}}, `samples[1].name: "a" is also the name of samples[0]`},
		"no values":    {Distribution{Quantity: "x", Samples: []Sample{{Name: "b"}}}, `samples[0] ("b"): has no values`},
		"not a number": {
			Distribution{Quantity: "x", Samples: []Sample{{Name: "b", Values: []float64{math.NaN()}}}},
			`samples[0] ("b"): value 1: NaN is not a finite number within ±1e+290`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Encode(io.Discard, c.chart, SVG); errorText(err) != c.want {
				t.Errorf("error = %v\nwant    %s", err, c.want)
			}
		})
	}
}

func TestADistributionOfAnyFiniteValuesCanBeDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chart := Distribution{Quantity: "x"}
		for i := range rapid.IntRange(1, 3).Draw(t, "samples") {
			values := rapid.SliceOfN(rapid.Float64Range(-maxMagnitude, maxMagnitude), 1, 5).Draw(t, "values")
			chart.Samples = append(chart.Samples, Sample{Name: fmt.Sprint(i), Values: values})
		}
		if err := Encode(io.Discard, chart, SVG); err != nil {
			t.Fatal(err)
		}
	})
}

func TestADrawingDoesNotGrowWithTheSample(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 200_000)
	for i := range values {
		values[i] = 1 + random.ExpFloat64()
	}
	svg := encoded(t, Distribution{Quantity: "x", Samples: []Sample{{Name: "a", Values: values}}}, SVG)
	// A step takes some 30 bytes: 200,000 of them would be 6 MB.
	if len(svg) > 200_000 {
		t.Errorf("the SVG has %d bytes", len(svg))
	}
}

func TestTheFractionAtOrBelowCountsEqualValues(t *testing.T) {
	t.Parallel()
	c := newCurve(0, Sample{Name: "a", Values: []float64{3, 1, 2, 2}})
	for x, want := range map[float64]float64{0.5: 0, 1: 0.25, 2: 0.75, 2.5: 0.75, 3: 1} {
		if got := c.steps.atOrBelow(x); got != want {
			t.Errorf("atOrBelow(%v) = %v, want %v", x, got, want)
		}
	}
}
