package fairshare

import "math"

// grid is the nodes and weights of the double exponential formula for an integral from
// 0 to ∞: the trapezoidal rule in y, with x = exp(y − exp(−y)). Takahasi and Mori,
// "Double exponential formulas for numerical integration", Publ. RIMS 9, 1974.
//
// On the left x falls faster than any power, on the right it grows so that features and
// decays on scales of many orders of magnitude all get their nodes. The error falls
// exponentially with the number of nodes per unit of y. Every other node, with twice
// the weight, is the grid of twice the step.
type grid struct {
	points  []float64
	weights []float64
}

// newGrid covers the range from first to last, in steps of y.
func newGrid(first, last, step float64) *grid {
	low, high := position(first), position(last)
	n := 2*int(math.Ceil((high-low)/(2*step))) + 1
	g := &grid{make([]float64, n), make([]float64, n)}
	for k := range g.points {
		y := low + float64(k)*step
		shrink := math.Exp(-y)
		g.points[k] = math.Exp(y - shrink)
		g.weights[k] = step * g.points[k] * (1 + shrink)
	}
	return g
}

// position returns the y of a point x > 0, by Newton's method for y − exp(−y) = ln x.
func position(x float64) float64 {
	target := math.Log(x)
	y := max(target, -math.Log(max(1, -target)))
	for range 50 {
		shrink := math.Exp(-y)
		by := (y - shrink - target) / (1 + shrink)
		y -= by
		if math.Abs(by) < 1e-9 {
			break
		}
	}
	return y
}
