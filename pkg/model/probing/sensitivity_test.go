package probing

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/loading"
)

// exactly returns levels without noise.
func exactly(inflations ...float64) []Level {
	var levels []Level
	for k, x := range inflations {
		levels = append(levels, Level{float64(k+1) / float64(len(inflations)), []float64{x, x, x}})
	}
	return levels
}

// values returns the inflations of a fit.
func values(t *testing.T, levels []Level) []float64 {
	t.Helper()
	s, err := FitSensitivity(levels)
	if err != nil {
		t.Fatal(err)
	}
	var found []float64
	for _, p := range s.Curve() {
		found = append(found, p.Inflation)
	}
	return found
}

func TestACurveIsTheNearestThatNeverFalls(t *testing.T) {
	t.Parallel()
	mid := math.Sqrt(1.2 * 1.8) // the mean logarithm of two
	third := math.Cbrt(1.3 * 1.2 * 1.1)
	tests := map[string]struct{ measured, want []float64 }{
		"one that rises stays":             {[]float64{1.1, 1.2, 1.5, 1.5}, []float64{1.1, 1.2, 1.5, 1.5}},
		"neighbors that fall are pooled":   {[]float64{1.1, 1.8, 1.2, 2}, []float64{1.1, mid, mid, 2}},
		"one that falls is constant":       {[]float64{1.3, 1.2, 1.1}, []float64{third, third, third}},
		"a job is not faster for pressure": {[]float64{0.9, 0.95, 1.2}, []float64{1, 1, 1.2}},
		"a single level":                   {[]float64{1.4}, []float64{1.4}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := values(t, exactly(test.measured...))
			// Means of logarithms, and back.
			if !slices.EqualFunc(got, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// The isotonic regression is the maximum of minima of means (Barlow et al., theorem 1.4), a formula for which nothing is
// pooled.
func TestPoolingIsTheMaximumOfMinimaOfMeans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		logs := rapid.SliceOfN(rapid.Float64Range(0, 2), 1, 8).Draw(t, "logarithms")
		var levels []Level
		for k, log := range logs {
			weight := rapid.IntRange(1, 4).Draw(t, "rounds")
			levels = append(levels, Level{float64(k + 1), slices.Repeat([]float64{math.Exp(log)}, weight)})
		}
		s, err := FitSensitivity(levels)
		if err != nil {
			t.Fatal(err)
		}
		for k := range logs {
			want := math.Inf(-1)
			for from := range k + 1 {
				least := math.Inf(1)
				for to := k; to < len(logs); to++ {
					sum, weight := 0.0, 0.0
					for i := from; i <= to; i++ {
						n := float64(len(levels[i].Inflations))
						sum, weight = sum+n*logs[i], weight+n
					}
					least = min(least, sum/weight)
				}
				want = max(want, least)
			}
			if got := math.Log(s.Inflations[k].Value); math.Abs(got-want) > 1e-9 {
				t.Errorf("level %d of %v: %v, want %v", k, logs, got, want)
			}
		}
	})
}

func TestAFitIsACurveThatPredictionsTake(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var levels []Level
		for k := range rapid.IntRange(1, 6).Draw(t, "levels") {
			levels = append(levels, Level{float64(k+1) / 4, rapid.SliceOfN(rapid.Float64Range(MinDilation, 50), 1, 7).Draw(t, "inflations")})
		}
		s, err := FitSensitivity(levels)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Curve().Validate(); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	})
}

func TestWhatLevelsHaveInCommonIsKnownBetter(t *testing.T) {
	t.Parallel()
	noisy := []float64{1.2, 1.25, 1.3}
	one, err := FitSensitivity([]Level{{1, noisy}})
	if err != nil {
		t.Fatal(err)
	}
	both, err := FitSensitivity([]Level{{0.5, noisy}, {1, noisy}})
	if err != nil {
		t.Fatal(err)
	}
	// Two means of the same error: 1/√2 of it.
	if got, want := both.Largest().Error, one.Largest().Error/math.Sqrt2; math.Abs(got-want) > 1e-3*want {
		t.Errorf("the error is %v, want %v", got, want)
	}
}

func TestAPressureIsWhereTheCurveOfTheReporterHasItsInflation(t *testing.T) {
	t.Parallel()
	s, err := FitSensitivity(exactly(1.2, 1.4, 1.4, 1.8))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ inflation, want float64 }{
		{1, 0},
		{1.1, 0.125},
		{1.3, 0.375},
		{1.4 - 1e-9, 0.5},
		{1.6, 0.875},
		{1.8, 1},
		{2.2, 1.5}, // beyond the last level with the average slope, 0.8
		{0.95, 0},  // noise
	} {
		got, err := s.Pressure(Estimate{Value: test.inflation, Error: 0, Samples: 3})
		if err != nil || math.Abs(got.Value-test.want) > 1e-8 { // what 1e-9 of the inflation is here
			t.Errorf("%v: %v, %v; want %v", test.inflation, got, err, test.want)
		}
	}
}

func TestAPressureHasTheErrorsOfTheReporterAndOfItsCurve(t *testing.T) {
	t.Parallel()
	s := Sensitivity{Pressures: []float64{1}, Inflations: []Estimate{{1.5, 0.04, 3}}}
	got, err := s.Pressure(Estimate{Value: 1.5, Error: 0.03, Samples: 3})
	// Both over the slope, 0.5.
	if want := math.Hypot(0.03, 0.04) / 0.5; err != nil || math.Abs(got.Error-want) > 1e-12 {
		t.Errorf("%v, %v; want an error of %v", got, err, want)
	}
	if got, err := s.Pressure(Estimate{Value: 1.5, Error: math.Inf(1), Samples: 1}); err != nil || !math.IsInf(got.Error, 1) {
		t.Errorf("of a single round: %v, %v", got, err)
	}
}

func TestABubbleThatSlowsNothingDownTellsNothing(t *testing.T) {
	t.Parallel()
	flat, err := FitSensitivity([]Level{{1, []float64{1.01, 0.99, 1.04}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flat.Pressure(Estimate{1.2, 0.01, 3}); flat.Shows() || !errors.Is(err, ErrAmbiguous) {
		t.Errorf("error = %v", err)
	}
	single, err := FitSensitivity([]Level{{1, []float64{1.5}}})
	if err != nil || single.Shows() {
		t.Errorf("a single round shows nothing: %v, %v", single, err)
	}
	if (Sensitivity{}).Shows() {
		t.Error("nothing shows something")
	}
}

func TestWrongLevelsAreNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		levels []Level
		want   string
	}{
		"none":                {nil, "levels: there is none"},
		"no pressure":         {[]Level{{0, []float64{1}}}, "levels[0].pressure: 0 is not above 0"},
		"pressures that fall": {[]Level{{1, []float64{1}}, {0.5, []float64{1}}}, "levels[1].pressure: 0.5 is not above 1, that of the level before"},
		"no number":           {[]Level{{math.NaN(), []float64{1}}}, "levels[0].pressure: NaN"},
		"too much":            {[]Level{{loading.MaxPressure * 2, []float64{1}}}, "and at most 1000"},
		"no rounds":           {[]Level{{1, nil}}, "levels[0].inflations: values: there is none"},
		"a round of nothing":  {[]Level{{1, []float64{1, 0}}}, "levels[0].inflations[1]: 0 is not between 0.8 and"},
		"an infinite round":   {[]Level{{1, []float64{math.Inf(1)}}}, "levels[0].inflations[0]: +Inf is not between"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := FitSensitivity(test.levels); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
	s := Sensitivity{Pressures: []float64{1}, Inflations: []Estimate{{1.5, 0.04, 3}}}
	for _, e := range []Estimate{{}, {math.NaN(), 0, 1}, {0.1, 0, 1}} {
		if got, err := s.Pressure(e); err == nil {
			t.Errorf("an inflation of %v is a pressure of %v", e, got)
		}
	}
}
