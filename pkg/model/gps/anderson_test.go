package gps

import (
	"math"
	"testing"
)

// An iteration that turns and grows goes around its fixed point for ever, and away from it.
func TestAccelerationFindsAPointThatTheIterationCirclesAround(t *testing.T) {
	t.Parallel()
	turned := func(x []float64) []float64 {
		const growth = 1.2
		sin, cos := math.Sincos(1)
		a, b := x[0]-3, x[1]+2
		return []float64{3 + growth*(cos*a-sin*b), -2 + growth*(sin*a+cos*b)}
	}
	x := []float64{10, 10}
	var direct anderson
	for range 5 {
		x = direct.next(x, turned(x))
	}
	if math.Abs(x[0]-3) > 1e-6 || math.Abs(x[1]+2) > 1e-6 {
		t.Errorf("got %v, want the fixed point 3, -2", x)
	}
	if next := direct.next(x, x); math.Abs(next[0]-x[0]) > 1e-6 {
		t.Errorf("it leaves the fixed point for %v", next)
	}
}
