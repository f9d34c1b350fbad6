package probing_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/probing"
)

func TestLoadingsThatFitAreLeftAlone(t *testing.T) {
	t.Parallel()
	v, err := probing.AddUp([]probing.Estimate{{0.6, 0.03, 8}, {}, {0.3, 0.04, 6}})
	if err != nil {
		t.Fatal(err)
	}
	if v.Loadings[0].Value != 0.6 || v.Loadings[2].Value != 0.3 || v.Moved[0] != 0 || v.Loadings[1].Taken() {
		t.Errorf("got %+v", v)
	}
	// 0.03 and 0.04 at a right angle are 0.05.
	if math.Abs(v.Sum.Value-0.9) > 1e-12 || math.Abs(v.Sum.Error-0.05) > 1e-12 || v.Sum.Samples != 6 {
		t.Errorf("the sum is %v", v.Sum)
	}
}

func TestTheLoadingThatIsKnownWorseGivesMore(t *testing.T) {
	t.Parallel()
	v, err := probing.AddUp([]probing.Estimate{{0.7, 0.02, 8}, {0.34, 0.04, 8}})
	if err != nil {
		t.Fatal(err)
	}
	// 0.04 too much, in proportion to the squares of the errors, 1 : 4.
	if math.Abs(v.Moved[0]-0.008) > 1e-12 || math.Abs(v.Moved[1]-0.032) > 1e-12 || math.Abs(v.Loadings[0].Value-0.692) > 1e-12 {
		t.Errorf("moved %v to %v", v.Moved, v.Loadings)
	}
}

func TestASmallLoadingGivesNoMoreThanItHas(t *testing.T) {
	t.Parallel()
	v, err := probing.AddUp([]probing.Estimate{{0.99, 0.01, 8}, {0.02, 0.1, 8}, {0.03, 0.01, 8}})
	if err != nil {
		t.Fatal(err)
	}
	// The second would give 0.04 · 100/102; the others share the part that it lacks.
	if v.Loadings[1].Value != 0 || math.Abs(v.Loadings[0].Value-0.98) > 1e-12 || math.Abs(v.Loadings[2].Value-0.02) > 1e-12 {
		t.Errorf("got %v", v.Loadings)
	}
}

// No vector of fractions that add up to at most 1 is nearer, by squares of the
// distance over the error.
func TestTheAdjustedVectorIsTheNearest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "resources")
		measured := make([]probing.Estimate, n)
		other, sum := make([]float64, n), 0.0
		for i := range measured {
			measured[i] = probing.Estimate{Value: rapid.Float64Range(0, 1).Draw(t, "value"), Error: rapid.Float64Range(0.001, 0.5).Draw(t, "error"), Samples: 3}
			other[i] = rapid.Float64Range(0, 1).Draw(t, "other")
			sum += other[i]
		}
		v, err := probing.AddUp(measured)
		if overlap := new(probing.OverlapError); err != nil && !errors.As(err, &overlap) {
			t.Fatal(err)
		}
		total, distance, others := 0.0, 0.0, 0.0
		for i, e := range measured {
			x := v.Loadings[i].Value
			if x < 0 || math.Abs(x+v.Moved[i]-e.Value) > 1e-9 {
				t.Fatalf("%v was moved to %v by %v", e, x, v.Moved[i])
			}
			total += x
			square := func(y float64) float64 { return (y - e.Value) * (y - e.Value) / (e.Error * e.Error) }
			distance += square(x)
			others += square(other[i] / max(1, sum))
		}
		if total > 1+1e-9 {
			t.Fatalf("the loadings add up to %v", total)
		}
		if others < distance-1e-9 {
			t.Fatalf("%v is nearer to %v than %v", other, measured, v.Loadings)
		}
	})
}

func TestResourcesThatOverlapInTimeAreNamed(t *testing.T) {
	t.Parallel()
	v, err := probing.AddUp([]probing.Estimate{{0.9, 0.02, 8}, {0.01, 0.02, 8}, {0.5, 0.03, 8}})
	var overlap *probing.OverlapError
	if !errors.As(err, &overlap) {
		t.Fatalf("got %v", err)
	}
	const want = "the loadings add up to 1.410 ± 0.041, clearly more than 1: resource 0 (0.900 ± 0.020), resource 2 (0.500 ± 0.030) overlap in time"
	if len(overlap.Resources) != 2 || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %q, want %q", err, want)
	}
	if sum := v.Loadings[0].Value + v.Loadings[1].Value + v.Loadings[2].Value; math.Abs(sum-1) > 1e-12 {
		t.Errorf("the vector with the error adds up to %v", sum)
	}
	// Samples without any scatter leave the disturbance that all have in common.
	if v, err := probing.AddUp([]probing.Estimate{{0.58, 0, 3}, {0.46, 0, 3}}); err != nil || math.Abs(v.Moved[0]-0.02) > 1e-12 {
		t.Errorf("got %+v, %v", v, err)
	}
	if _, err := probing.AddUp([]probing.Estimate{{0.58, 0, 3}, {0.48, 0, 3}}); !errors.As(err, &overlap) {
		t.Errorf("got %v", err)
	}
}

func TestLoadingsWithoutAKnownErrorAreNotAdjusted(t *testing.T) {
	t.Parallel()
	for want, bad := range map[string]probing.Estimate{
		"loadings[1]: error: +Inf is not a finite number of at least 0: take more samples than 1": {0.5, math.Inf(1), 1},
		"loadings[1]: NaN is not a fraction from 0 to 1":                                          {math.NaN(), 0.1, 3},
		"loadings[1]: 1.2 is not a fraction from 0 to 1":                                          {1.2, 0.1, 3},
	} {
		if _, err := probing.AddUp([]probing.Estimate{{0.5, 0.1, 3}, bad}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
