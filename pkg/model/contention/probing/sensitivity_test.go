package probing_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention/probing"
)

// noisy returns inflations about one, whose logarithms have a standard deviation.
func noisy(r *rand.Rand, inflation, deviation float64, rounds int) []float64 {
	values := make([]float64, rounds)
	for k := range values {
		values[k] = inflation * math.Exp(deviation*r.NormFloat64())
	}
	return values
}

func TestASensitivityCurveIsFoundAmongNoise(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 7))
	truth := []float64{1, 1.2, 1.6, 1.6}
	inside, all := 0, 0
	for range 300 {
		var levels []probing.Level
		for k, inflation := range truth {
			levels = append(levels, probing.Level{Pressure: 0.25 * float64(k+1), Inflations: noisy(r, inflation, 0.02, 6)})
		}
		curve, err := probing.SensitivityCurve(levels)
		if err != nil {
			t.Fatal(err)
		}
		last := 1.0
		for k, s := range curve {
			if s.Inflation.Value < last {
				t.Fatalf("the curve falls: %+v", curve)
			}
			last = s.Inflation.Value
			if math.Abs(s.Inflation.Value-truth[k]) <= s.Inflation.Error {
				inside++
			}
			all++
		}
	}
	// Pooling only brings values nearer together, and so nearer to the truth.
	if share := float64(inside) / float64(all); share < 0.9 {
		t.Errorf("intervals hold the truth in %.3f of all cases, want 0.95 or so", share)
	}
}

func TestACurveThatFallsIsPooled(t *testing.T) {
	t.Parallel()
	curve, err := probing.SensitivityCurve([]probing.Level{
		{Pressure: 0.5, Inflations: []float64{1.21}}, {Pressure: 1, Inflations: []float64{1}}, {Pressure: 2, Inflations: []float64{1.5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{1.1, 1.1, 1.5} { // geometric means
		if got := curve[k].Inflation.Value; math.Abs(got-want) > 1e-12 {
			t.Errorf("at %v it is %v, want %v", curve[k].Pressure, got, want)
		}
	}
}

func TestAMeasuredCurveIsAlwaysACurve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		levels := make([]probing.Level, rapid.IntRange(0, 6).Draw(t, "levels"))
		for k := range levels {
			levels[k] = probing.Level{Pressure: float64(k + 1), Inflations: rapid.SliceOfN(rapid.Float64Range(0.5, 5), 1, 5).Draw(t, "inflations")}
		}
		curve, err := probing.SensitivityCurve(levels)
		if err != nil {
			t.Fatal(err)
		}
		last := 1.0
		for _, s := range curve {
			if !(s.Inflation.Value >= last && s.Inflation.Error >= 0) {
				t.Fatalf("the curve is %+v", curve)
			}
			last = s.Inflation.Value
		}
	})
}

func TestLevelsThatAreWrongAreNamed(t *testing.T) {
	t.Parallel()
	for want, levels := range map[string][]probing.Level{
		"levels[0].pressure: 0 is not a finite number above 0":               {{Pressure: 0, Inflations: []float64{1}}},
		"levels[1].pressure: 0.5 is not above 0.5, that of the level before": {{Pressure: 0.5, Inflations: []float64{1}}, {Pressure: 0.5, Inflations: []float64{1}}},
		"levels[0]: values: there is none":                                   {{Pressure: 1}},
		"levels[0]: values[0]: NaN is not a positive, finite number":         {{Pressure: 1, Inflations: []float64{math.NaN()}}},
		"levels[1].pressure: NaN is not above 1, that of the level before":   {{Pressure: 1, Inflations: []float64{1}}, {Pressure: math.NaN(), Inflations: []float64{1}}},
		"levels[0].pressure: +Inf is not a finite number above 0":            {{Pressure: math.Inf(1), Inflations: []float64{1}}},
	} {
		if _, err := probing.SensitivityCurve(levels); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestAPressureIsThatOfStandardJobs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ beside, self, want float64 }{{1.4, 1.4, 1}, {1.2, 1.4, 0.5}, {1.6, 1.3, 2}, {0.99, 1.2, 0}} {
		got, err := probing.PressureBeside([]float64{test.beside, test.beside}, test.self)
		if err != nil || math.Abs(got.Value-test.want) > 1e-9 {
			t.Errorf("a standard job dilated by %v: %v, %v, want %v", test.beside, got, err, test.want)
		}
	}
	if _, err := probing.PressureBeside([]float64{1.4}, 1.01); !errors.Is(err, probing.ErrNoPressure) {
		t.Errorf("where two standard jobs hardly slow each other down: %v", err)
	}
	if _, err := probing.PressureBeside(nil, 1.5); err == nil {
		t.Error("no run at all tells a pressure")
	}
}
