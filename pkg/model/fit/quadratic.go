package fit

import "math"

// effort bounds the coordinate descent of [quadratic.descend].
type effort struct {
	sweeps int
	still  float64 // the change, relative to the largest unknown, that ends it
}

var (
	// loose is enough where the alternation comes back to the same function,
	// hardly changed, with the unknowns where they were left.
	loose = effort{10, 1e-4}
	// tight is what comparing sums takes: a descent that ends early has not come
	// to the sum that its charge leads to.
	tight = effort{1000, 1e-10}
)

const (
	// halvings of the multiplier of a binding sum leave it 10⁻⁹ of its range.
	halvings = 30
)

// quadratic is the function ½ xᵀAx − bᵀx of a few non-negative unknowns, A
// symmetric positive semidefinite and stored by rows. It is what fitting one
// job's sensitivities, or its pressures, comes down to when all else is held.
type quadratic struct {
	a []float64
	b []float64
}

func newQuadratic(n int) quadratic {
	return quadratic{a: make([]float64, n*n), b: make([]float64, n)}
}

func (q quadratic) reset() {
	clear(q.a)
	clear(q.b)
}

// observe adds ½ weight (rowᵀx − target)².
func (q quadratic) observe(row []float64, target, weight float64) {
	n := len(q.b)
	for i, r := range row {
		wr := weight * r
		q.b[i] += wr * target
		for k := range i + 1 {
			q.a[i*n+k] += wr * row[k]
		}
	}
}

// mirror copies the lower triangle, which observe fills, to the upper one.
func (q quadratic) mirror() {
	n := len(q.b)
	for i := range n {
		for k := range i {
			q.a[k*n+i] = q.a[i*n+k]
		}
	}
}

// pull adds ½ strength |x − towards|².
func (q quadratic) pull(towards []float64, strength float64) {
	n := len(q.b)
	for i, t := range towards {
		q.a[i*n+i] += strength
		q.b[i] += strength * t
	}
}

// minimize improves x until it minimizes q subject to 0 ≤ x_i ≤ most and,
// where total is finite, Σ x_i ≤ total.
func (q quadratic) minimize(x []float64, most, total float64) {
	q.descend(x, most, 0, loose)
	if sum(x) <= total {
		return
	}
	// The bound on the sum binds: its multiplier is the charge on each unknown
	// at which they add up to just that much.
	low, high := 0.0, 0.0
	for _, b := range q.b {
		high = max(high, b)
	}
	for range halvings {
		charge := (low + high) / 2
		q.descend(x, most, charge, tight)
		if sum(x) > total {
			low = charge
		} else {
			high = charge
		}
	}
	q.descend(x, most, high, tight)
	if over := sum(x) / total; over > 1 { // where the descent came to an early end
		for i := range x {
			x[i] /= over
		}
	}
}

// descend minimizes q + charge·Σx over 0 ≤ x ≤ most, one coordinate at a time.
func (q quadratic) descend(x []float64, most, charge float64, limit effort) {
	n := len(q.b)
	for range limit.sweeps {
		moved, size := 0.0, 0.0
		for i := range n {
			diagonal := q.a[i*n+i]
			if diagonal <= 0 {
				continue
			}
			gradient := charge - q.b[i]
			for k := range n {
				gradient += q.a[i*n+k] * x[k]
			}
			next := min(most, max(0, x[i]-gradient/diagonal))
			moved = max(moved, math.Abs(next-x[i]))
			size = max(size, next)
			x[i] = next
		}
		if moved <= limit.still*size {
			return
		}
	}
}

// nuisance is one more unknown of a quadratic, of either sign and not itself
// sought: ½ curvature·y² − slope·y + y·crossᵀx.
type nuisance struct {
	curvature, slope float64
	cross            []float64
}

func (n *nuisance) reset() {
	n.curvature, n.slope = 0, 0
	clear(n.cross)
}

// observe adds what ½ weight (own·y + rowᵀx − target)² has beyond
// [quadratic.observe].
func (n *nuisance) observe(own float64, row []float64, target, weight float64) {
	n.curvature += weight * own * own
	n.slope += weight * own * target
	for i, r := range row {
		n.cross[i] += weight * own * r
	}
}

// best returns the y that minimizes for the given x.
func (n *nuisance) best(x []float64) float64 { return (n.slope - dot(n.cross, x)) / n.curvature }

// eliminate replaces a function of x and y by its minimum over y.
func (q quadratic) eliminate(n *nuisance) {
	size := len(q.b)
	for i, c := range n.cross {
		c /= n.curvature
		q.b[i] -= c * n.slope
		for k, d := range n.cross {
			q.a[i*size+k] -= c * d
		}
	}
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}
