package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of 19 errors the 19th smallest covers 95 % of the next one, exactly.
func TestTheConformalFactorCoversTheNextError(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const draws = 4000
	covered := 0.0
	for range draws {
		errs := make([]float64, 19)
		for i := range errs {
			errs[i] = 1 + random.ExpFloat64()
		}
		if 1+random.ExpFloat64() <= conformal(errs, 0.95) {
			covered++
		}
	}
	// Four standard errors of 0.0034.
	if share := covered / draws; math.Abs(share-0.95) > 0.014 {
		t.Errorf("%.3f are covered, want 0.95", share)
	}
}

func TestIntervalsAreNeverMadeNarrower(t *testing.T) {
	t.Parallel()
	few := []float64{5, 5, 5}
	if got := conformal(few, 0.95); got != 1 {
		t.Errorf("a factor of %v by three errors, want 1", got)
	}
	small := make([]float64, 50)
	if got := conformal(small, 0.95); got != 1 {
		t.Errorf("a factor of %v where all is well, want 1", got)
	}
}
