package poissonbinomial

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestBinomialIsManyEqualEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		q := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1e-300, 1e-9, 0.5, 1 - 1e-9, 1 - 1e-16, 1})).Draw(t, "q")
		d := events()
		for range n {
			d.Add(q)
		}
		low, got := Binomial(n, q)
		sum := 0.0
		for k, p := range got {
			sum += p
			want := 0.0
			if _, high := d.Range(); low+k <= high {
				want = d.Probability()[low+k]
			}
			if math.Abs(p-want) > 1e-11*want+1e-18 {
				t.Fatalf("P(%d) = %v, want %v", low+k, p, want)
			}
		}
		if math.Abs(sum-1) > 1e-12 || low < 0 || low+len(got)-1 > n {
			t.Fatalf("numbers from %d to %d of %d, probabilities that add up to %v", low, low+len(got)-1, n, sum)
		}
	})
}

func TestPointsKeepMeanAndSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, limit := rapid.IntRange(1, 20_000).Draw(t, "n"), rapid.IntRange(8, 32).Draw(t, "limit")
		q := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1e-9, 1 - 1e-9, 1})).Draw(t, "q")
		low, probability := Binomial(n, q)
		at, weight := Points(low, probability, limit)
		if len(at) > limit || len(at) != len(weight) {
			t.Fatalf("%d points and %d weights, want at most %d", len(at), len(weight), limit)
		}
		sum, mean, spread := 0.0, 0.0, 0.0
		for k, w := range weight {
			sum += w
			mean += w * at[k]
			spread += w * (at[k] - float64(n)*q) * (at[k] - float64(n)*q)
			if k > 0 && at[k] <= at[k-1] {
				t.Fatalf("points are not in order: %v", at)
			}
		}
		variance := float64(n) * q * (1 - q)
		if math.Abs(sum-1) > 1e-12 || math.Abs(mean-float64(n)*q) > 1e-9*float64(n) {
			t.Fatalf("weights add up to %v, mean %v, want 1 and %v", sum, mean, float64(n)*q)
		}
		// The variance within a run is at most a quarter of the square of its width.
		width := 12 * math.Sqrt(variance) / float64(limit-2)
		if spread > variance*(1+1e-9)+1e-9 || spread < variance*(1-1e-9)-width*width/4-1e-9 {
			t.Fatalf("variance %v, want %v", spread, variance)
		}
	})
}
