package poissonbinomial

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// events returns a distribution by its definition, one event at a time.
func events(probabilities ...float64) *Distribution {
	d := &Distribution{}
	d.Reset()
	for _, q := range probabilities {
		d.Add(q)
	}
	return d
}

func probabilities(t *rapid.T, most int) []float64 {
	return rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(1e-3, 1), rapid.SampledFrom([]float64{0, 1e-300, 1e-12, 9e-10, 2e-9, 0.5, 1 - 1e-8, 1 - 9e-10, 1 - 1e-14, 1})), 1, most).Draw(t, "probabilities")
}

// Every outcome of the events, one by one.
func TestProbabilitiesAreThoseOfAllOutcomes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := probabilities(t, 10)
		want := make([]float64, len(all)+1)
		for outcome := range 1 << len(all) {
			p, n := 1.0, 0
			for k, q := range all {
				if outcome>>k&1 == 1 {
					p *= q
					n++
				} else {
					p *= 1 - q
				}
			}
			want[n] += p
		}
		d := events(all...)
		mean, excess := 0.0, 0.0
		c := rapid.IntRange(1, 12).Draw(t, "c")
		low, high := d.Range()
		for n, p := range want {
			mean += p * float64(n)
			excess += p * float64(max(0, n+1-c))
			got := 0.0
			if n <= high {
				got = d.Probability()[n]
			}
			if math.Abs(got-p) > 1e-14 || n < low && got != 0 {
				t.Fatalf("P(%d) = %v, want %v; the range is %d to %d", n, got, p, low, high)
			}
		}
		if got := d.Mean(); math.Abs(got-mean) > 1e-13 {
			t.Fatalf("mean %v, want %v", got, mean)
		}
		if got := d.Excess(c); math.Abs(got-excess) > 1e-13 {
			t.Fatalf("excess over %d: %v, want %v", c, got, excess)
		}
	})
}

func TestWithoutAnEventAreTheOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := probabilities(t, 40)
		k := rapid.IntRange(0, len(all)-1).Draw(t, "without")
		var got Distribution
		got.Without(events(all...), all[k])
		others := append(append([]float64(nil), all[:k]...), all[k+1:]...)
		want := events(others...)
		if math.Abs(got.Mean()-want.Mean()) > 1e-13 {
			t.Fatalf("mean %v, want %v", got.Mean(), want.Mean())
		}
		for n, p := range want.Probability() {
			q := 0.0
			if n < len(got.probability) {
				q = got.probability[n]
			}
			if math.Abs(q-p) > 1e-9*p+1e-15 { // roundings, and those of an event that is almost certain
				t.Fatalf("P(%d) = %v, want %v", n, q, p)
			}
		}
	})
}

func TestConvolveKeepsWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 20).Draw(t, "weights")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		sum, moment := 0.0, 0.0
		for n, w := range weights {
			sum += w
			moment += w * (float64(n) + q)
		}
		for n, w := range Convolve(weights, q) {
			sum -= w
			moment -= w * float64(n)
		}
		if math.Abs(sum) > 1e-10 || math.Abs(moment) > 1e-9 {
			t.Fatalf("the sum is off by %v, the first moment by %v", sum, moment)
		}
	})
}
