package probing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention/probing"
)

func TestRoundsGoOnUntilAllIntervalsAreNarrow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		estimates []probing.Estimate
		enough    bool
	}{
		{"nothing was measured", nil, true},
		{"an estimate that was not taken", []probing.Estimate{{Value: 1, Error: 1}}, true},
		{"narrow intervals", []probing.Estimate{{0.5, 0.01, 8}, {0.1, 0.02, 5}}, true},
		{"one interval is wide", []probing.Estimate{{0.5, 0.01, 8}, {0.1, 0.021, 5}}, false},
		{"two samples that happen to agree", []probing.Estimate{{0.5, 0, 2}}, false},
		{"one sample", []probing.Estimate{{0.5, math.Inf(1), 1}}, false},
	} {
		if got := probing.Enough(0.02, test.estimates...); got != test.enough {
			t.Errorf("%s: enough is %v", test.name, got)
		}
	}
}

func TestMoreRoundsGrowAsTheSquareOfTheError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		precision float64
		estimate  probing.Estimate
		want      int
	}{
		{"half the error takes four times the samples", 0.01, probing.Estimate{0.5, 0.02, 1000}, 3000},
		{"a third takes nine times", 0.01, probing.Estimate{0.5, 0.03, 1000}, 8000},
		{"one sample asks for two more", 0.01, probing.Estimate{0.5, math.Inf(1), 1}, 2},
		{"two samples that agree ask for one more", 0.01, probing.Estimate{0.5, 0.001, 2}, 1},
		// 12.71/√2 = 8.98 and 4.30/√3 = 2.48.
		{"Student's distribution makes it fewer", 0.0248 / 0.0898, probing.Estimate{0.5, 1, 2}, 2},
		{"a little less and one does", 0.0250 / 0.0898, probing.Estimate{0.5, 1, 2}, 1},
		{"no number is enough for a precision of 0", 0, probing.Estimate{0.5, 0.1, 8}, probing.MostRounds},
		{"nor for none", math.NaN(), probing.Estimate{0.5, 0.1, 8}, probing.MostRounds},
	} {
		got := probing.MoreRounds(test.precision, test.estimate)
		// Degrees of freedom and rounding leave 1 %.
		if math.Abs(float64(got-test.want)) > 0.01*float64(test.want) {
			t.Errorf("%s: got %d more rounds, want %d", test.name, got, test.want)
		}
	}
}

func TestAWiderIntervalNeedsNoFewerRounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := probing.Estimate{Value: 0.5, Error: rapid.Float64Range(0, 1).Draw(t, "error"), Samples: rapid.IntRange(2, 200).Draw(t, "samples")}
		wider := e
		wider.Error *= rapid.Float64Range(1, 10).Draw(t, "factor")
		if narrow, wide := probing.MoreRounds(0.02, e), probing.MoreRounds(0.02, wider); wide < narrow || narrow < 0 {
			t.Fatalf("%v needs %d rounds, %v needs %d", e, narrow, wider, wide)
		}
	})
}

// From eight rounds the forecast is right to a factor of two, four times out of five:
// that well eight values tell their standard deviation.
func TestTheForecastComesTrue(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	right := 0
	for range 200 {
		var values []float64
		draw := func(n int) probing.Estimate {
			for range n {
				values = append(values, math.Exp(0.05*rng.NormFloat64()))
			}
			return geometricMean(t, values...)
		}
		forecast := 8 + probing.MoreRounds(0.02, draw(8))
		for !probing.Enough(0.02, draw(1)) {
			continue
		}
		if took := len(values); took <= 2*forecast && 2*took >= forecast {
			right++
		}
	}
	if right < 160 {
		t.Errorf("%d of 200 forecasts were right to a factor of two", right)
	}
}
