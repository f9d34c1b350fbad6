package gps

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// anderson accelerates the iteration x → g(x) towards its fixed point: it goes on from the combination of the last few rounds for
// which the predicted change by g is least. It also finds fixed points that the iteration circles around. Anderson acceleration of
// type II; Walker and Ni, SIAM Journal on Numerical Analysis 49(4), 2011.
type anderson struct {
	x, change      []float64   // of the last round: change is g(x) − x
	moves, changes [][]float64 // differences of x and of change from one round to the next, the latest last
}

const (
	// andersonDepth is how many rounds are combined.
	andersonDepth = 10
	// regularization is by which part of their mean the squares of differences grow, which are nearly dependent near the fixed point.
	regularization = 1e-9
)

// next returns where to go on after the iteration went from x to gx, a slice of its own. It takes O(d·n + d³) time for n numbers and d
// rounds.
func (a *anderson) next(x, gx []float64) []float64 {
	change := floats.SubTo(make([]float64, len(x)), gx, x)
	if a.x != nil {
		a.moves = append(a.moves, floats.SubTo(make([]float64, len(x)), x, a.x))
		a.changes = append(a.changes, floats.SubTo(make([]float64, len(x)), change, a.change))
		first := max(0, len(a.moves)-andersonDepth)
		a.moves, a.changes = a.moves[first:], a.changes[first:]
	}
	a.x, a.change = slices.Clone(x), change
	next := slices.Clone(gx)
	for i, weight := range a.weights() {
		floats.AddScaled(next, -weight, a.moves[i])
		floats.AddScaled(next, -weight, a.changes[i])
	}
	return next
}

// weights returns how much of each difference to take back so that the least of the last change is left; nil for none.
func (a *anderson) weights() []float64 {
	n := len(a.changes)
	if n == 0 {
		return nil
	}
	products, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		right.SetVec(i, floats.Dot(a.changes[i], a.change))
		for j := i; j < n; j++ {
			products.SetSym(i, j, floats.Dot(a.changes[i], a.changes[j]))
		}
	}
	more := regularization * mat.Trace(products) / float64(n)
	for i := range n {
		products.SetSym(i, i, products.At(i, i)+more)
	}
	var factors mat.Cholesky
	var weights mat.VecDense
	if !factors.Factorize(products) || factors.SolveVecTo(&weights, right) != nil {
		return nil
	}
	return weights.RawVector().Data
}
