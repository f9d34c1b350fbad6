package chart

import (
	"math"
	"testing"
)

func TestAccuracyIsRelativeToWhatWasMeasured(t *testing.T) {
	t.Parallel()
	var pairs []Pair
	for i := range 10 { // off by 10%, 20%, …, 100%, above and below
		off := float64(i+1) / 10
		if i%2 == 0 {
			off = -off
		}
		pairs = append(pairs, Pair{Measured: 5, Predicted: 5 * (1 + off)})
	}
	got := accuracyOf(pairs)
	for name, c := range map[string]struct{ got, want float64 }{
		"count": {float64(got.count), 10},
		"mean":  {got.mean, 0.55},
		"p90":   {got.p90, 0.9},
	} {
		if math.Abs(c.got-c.want) > 1e-12 { // rounding
			t.Errorf("%s = %v, want %v", name, c.got, c.want)
		}
	}
}
