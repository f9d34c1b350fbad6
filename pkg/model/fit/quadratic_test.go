package fit

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// No feasible step from the minimum may gain: the conditions of Karush, Kuhn and
// Tucker, checked along coordinates and exchanges of two.
func TestTheMinimumCannotBeImproved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "n")
		q := newQuadratic(n)
		for range n + 2 {
			row := make([]float64, n)
			for i := range row {
				row[i] = rapid.Float64Range(0, 2).Draw(t, "row")
			}
			q.observe(row, rapid.Float64Range(-1, 3).Draw(t, "target"), 1)
		}
		q.mirror()
		q.pull(make([]float64, n), 0.5)
		most, total := math.Inf(1), math.Inf(1)
		if rapid.Bool().Draw(t, "fractions") {
			most, total = 1, 1
		}
		x := make([]float64, n)
		for range 20 { // the alternation, too, comes back
			q.minimize(x, most, total)
		}
		if sum(x) > total+1e-12 {
			t.Fatalf("%v add up to more than 1", x)
		}
		value := func(x []float64) float64 {
			v := 0.0
			for i := range x {
				v -= q.b[i] * x[i]
				for k := range x {
					v += q.a[i*n+k] * x[i] * x[k] / 2
				}
			}
			return v
		}
		const step = 1e-3
		here := value(x)
		for i := range n {
			for k := -1; k < n; k++ {
				for _, d := range []float64{step, -step} {
					y := append([]float64(nil), x...)
					y[i] += d
					if k >= 0 {
						y[k] -= d
					}
					feasible := sum(y) <= total
					for _, v := range y {
						feasible = feasible && v >= 0 && v <= most
					}
					// A tolerance for the loose end of the descent, below step² times the curvature.
					if feasible && value(y) < here-1e-6*(1+math.Abs(here)) {
						t.Fatalf("%v gives %v, but %v gives %v", x, here, y, value(y))
					}
				}
			}
		}
	})
}
