package queueing

import (
	"math"
	"math/cmplx"
	"testing"
)

// Pairs of the tables, of functions that are smooth and at most 1.
func TestInvertLaplaceKnowsPairs(t *testing.T) {
	for _, test := range []struct {
		name      string
		transform func(s complex128) complex128
		want      func(t float64) float64
	}{
		{"exp", func(s complex128) complex128 { return 1 / (1 + s) }, func(t float64) float64 { return math.Exp(-t) }},
		{"1", func(s complex128) complex128 { return 1 / s }, func(float64) float64 { return 1 }},
		{"t exp", func(s complex128) complex128 { return 1 / ((1 + s) * (1 + s)) }, func(t float64) float64 { return t * math.Exp(-t) }},
		{"erfc", func(s complex128) complex128 { return 1 / (s + cmplx.Sqrt(s)) }, func(t float64) float64 {
			return math.Exp(t) * math.Erfc(math.Sqrt(t))
		}},
		{"Bessel", func(s complex128) complex128 { return 1 / cmplx.Sqrt(1+s*s) }, math.J0},
	} {
		for _, at := range []float64{0.01, 0.3, 1, 3, 10} {
			if got := invertLaplace(test.transform, at); math.Abs(got-test.want(at)) > 1e-9 {
				t.Errorf("%s at %v: %v, want %v", test.name, at, got, test.want(at))
			}
		}
	}
}

// The mean busy period of a single server is 1/(μ − λ); a transform falls by the mean
// times s where s is small.
func TestBusyPeriodHasItsMean(t *testing.T) {
	for _, arrival := range []float64{0, 0.1, 0.5, 0.9} {
		const s = 1e-7
		got := (1 - real(busyPeriod(s, arrival, 1))) / s
		if want := 1 / (1 - arrival); math.Abs(got-want) > 1e-4*want {
			t.Errorf("λ = %v: mean %v, want %v", arrival, got, want)
		}
	}
}
