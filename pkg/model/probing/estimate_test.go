package probing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/probing"
)

func geometricMean(t interface{ Fatal(args ...any) }, values ...float64) probing.Estimate {
	e, err := probing.GeometricMean(values)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The numbers are worked out by hand, with Student's quantiles from a table: 4.3027
// for two degrees of freedom.
func TestIntervalsAreStudentsOnLogarithms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		values []float64
		want   probing.Estimate
	}{
		{"one value", []float64{1.5}, probing.Estimate{Value: 1.5, Error: math.Inf(1), Samples: 1}},
		{"equal values", []float64{2, 2, 2, 2}, probing.Estimate{Value: 2, Error: 0, Samples: 4}},
		// Logarithms −0.1, 0, 0.1: standard error 0.1/√3.
		{"three values", []float64{math.Exp(-0.1), 1, math.Exp(0.1)}, probing.Estimate{Value: 1, Error: math.Sinh(4.3027 * 0.1 / math.Sqrt(3)), Samples: 3}},
		// Of the five the outer two count as ∓0.1: Σ = 0.04, standard error √(0.04/6).
		{
			"five values",
			[]float64{math.Exp(-3), math.Exp(-0.1), 1, math.Exp(0.1), math.Exp(7)},
			probing.Estimate{Value: 1, Error: math.Sinh(4.3027 * math.Sqrt(0.04/6)), Samples: 5},
		},
	} {
		got := geometricMean(t, test.values...)
		if got.Samples != test.want.Samples || math.Abs(got.Value-test.want.Value) > 1e-12 ||
			got.Error != test.want.Error && math.Abs(got.Error-test.want.Error) > 1e-4 {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// draws are enough for a standard error of a quarter of a percent in a coverage.
const draws = 8000

// repeat returns how often the interval covered the true mean, 1, of values with 1 %
// noise, how far off the mean was on average, and the average half width; the last
// two in percent. Some of the values are outliers, that many percent too high.
func repeat(t *testing.T, n, outliers int, percent float64) (coverage, bias, width float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(outliers)))
	values := make([]float64, n)
	for range draws {
		for k := range values {
			values[k] = math.Exp(0.01 * rng.NormFloat64())
			if k < outliers {
				values[k] *= 1 + percent/100
			}
		}
		e := geometricMean(t, values...)
		if math.Abs(e.Value-1) <= e.Error {
			coverage += 1. / draws
		}
		bias += 100 * (e.Value - 1) / draws
		width += 100 * e.Error / draws
	}
	return coverage, bias, width
}

func TestIntervalsCoverAsTheySay(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 4, 5, 6, 8, 12, 20, 40} {
		if coverage, _, _ := repeat(t, n, 0, 0); coverage < 0.93 || coverage > 0.97 {
			t.Errorf("%d samples: the interval covers in %.1f %%", n, 100*coverage)
		}
	}
}

// One sample in ten is 10 % too high, ten times the noise. It would move a plain mean
// by 2 % of five samples and 1 % of ten.
func TestOutliersHardlyMoveTheMean(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5, 6, 8, 10, 20} {
		coverage, bias, width := repeat(t, n, max(1, n/10), 10)
		if math.Abs(bias) > 0.36 || math.Abs(bias) > width/2 {
			t.Errorf("%d samples: the mean is off by %.2f %%, the half width %.2f %%", n, bias, width)
		}
		if coverage < 0.92 {
			t.Errorf("%d samples: the interval covers in %.1f %%", n, 100*coverage)
		}
		if _, far, _ := repeat(t, n, max(1, n/10), 1000); math.Abs(far-bias) > 0.02 {
			t.Errorf("%d samples: an outlier farther out moves the mean from %.2f to %.2f %%", n, bias, far)
		}
	}
}

func TestTheMeanIsInTheUnitOfTheValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0.1, 10), 2, 30).Draw(t, "values")
		unit := rapid.Float64Range(1e-3, 1e9).Draw(t, "unit")
		scaled := make([]float64, len(values))
		for k, v := range values {
			scaled[len(values)-1-k] = v * unit // and in any order
		}
		a, b := geometricMean(t, values...), geometricMean(t, scaled...)
		if math.Abs(b.Value/unit-a.Value) > 1e-9*a.Value || math.Abs(b.Error/unit-a.Error) > 1e-6*(a.Error+a.Value) {
			t.Fatalf("%v in another unit is %v", a, b)
		}
	})
}

func TestValuesWithoutLogarithmAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := probing.GeometricMean([]float64{1, bad})
		if want := fmt.Sprintf("values[1]: %v is not a positive, finite number", bad); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := probing.GeometricMean(nil); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("got %v", err)
	}
}
