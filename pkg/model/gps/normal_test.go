package gps

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestTheExcessOfANormalNumberIsExactToNineDigits(t *testing.T) {
	for z := -8.0; z <= 8; z += 0.00037 {
		want := z*distuv.UnitNormal.CDF(z) + distuv.UnitNormal.Prob(z)
		if got := normalExcess(z); !(math.Abs(got-want) <= 1e-9) {
			t.Fatalf("at %v it is %v, want %v", z, got, want)
		}
	}
	for z, want := range map[float64]float64{math.Inf(-1): 0, -1e300: 0, 1e300: 1e300, math.Inf(1): math.Inf(1)} {
		if got := normalExcess(z); got != want {
			t.Errorf("at %v it is %v, want %v", z, got, want)
		}
	}
}

func BenchmarkNormalExcess(b *testing.B) {
	sum, z := 0.0, 0.0
	for b.Loop() {
		z += 0.001
		if z > 5 {
			z = -5
		}
		sum += normalExcess(z)
	}
	if sum < 0 {
		b.Error(sum)
	}
}
