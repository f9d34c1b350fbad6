package queueing

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// newton makes an iteration of the totals settle fast. Plain repetition,
//
//	totals = sums(totals)
//
// settles slowly where stations are saturated, because totals feed back: a job that waits longer is
// present longer. But there are only m of them, so they take Newton's step,
//
//	totals += (1 − ∂sums/∂totals)⁻¹ (sums − totals)
//
// as far as it can be trusted: it must lead the same way as the sums, and not
// further from them than by a factor, the reach, which shrinks while the iteration
// gets nowhere and grows while it gets on.
type newton struct {
	m         int
	remaining *mat.Dense // 1 − ∂sums/∂totals
	inverse   *mat.Dense
	steps     []float64 // scratch, per station
	residuals []float64 // scratch, per station
	change    float64   // by what fraction sums and totals last differed
	reach     float64   // at least 1
}

// maxReach is the reach where Newton's step is trusted.
const maxReach = 2

func newNewton(m int) *newton {
	return &newton{
		m: m, remaining: mat.NewDense(m, m, nil), inverse: mat.NewDense(m, m, nil),
		steps: make([]float64, m), residuals: make([]float64, m), change: math.Inf(1), reach: maxReach,
	}
}

// reset begins a new Jacobian.
func (n *newton) reset() {
	n.remaining.Zero()
	for i := range n.m {
		n.remaining.Set(i, i, 1)
	}
}

// add adds to ∂sums[i]/∂totals[l].
func (n *newton) add(i, l int, derivative float64) {
	n.remaining.RawMatrix().Data[i*n.m+l] -= derivative
}

// prepare completes the Jacobian, given the points where it is taken.
func (n *newton) prepare(sums, totals []float64) {
	change := 0.0
	for i, sum := range sums {
		if more := max(sum, totals[i]); more > 0 {
			change = max(change, math.Abs(sum-totals[i])/more)
		}
	}
	switch {
	case change < 0.7*n.change:
		n.reach = min(maxReach, n.reach*n.reach)
	case change > 0.98*n.change:
		n.reach = math.Sqrt(n.reach)
	}
	n.change = change
	if err := n.inverse.Inverse(n.remaining); err != nil { // singular, or nearly
		n.inverse.Zero()
		for i := range n.m {
			n.inverse.Set(i, i, 1)
		}
	}
}

// advance moves the totals, and turns the sums into the factors by which
// presences that add up to the sums must change to add up to the new totals.
func (n *newton) advance(sums, totals []float64) {
	for i := range n.residuals {
		n.residuals[i] = sums[i] - totals[i]
	}
	inverse := n.inverse.RawMatrix().Data
	along := 0.0
	for i := range n.steps {
		n.steps[i] = 0
		for l, residual := range n.residuals {
			n.steps[i] += inverse[i*n.m+l] * residual
		}
		along += n.steps[i] * n.residuals[i]
	}
	for i, sum := range sums {
		if along > 0 {
			totals[i] = max(sum/n.reach, min(sum*n.reach, totals[i]+n.steps[i]))
		} else {
			totals[i] = sum
		}
		if sum > 0 {
			sums[i] = totals[i] / sum
		}
	}
}
