package fairshare

import (
	"fmt"
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mat"
)

// harmonics is what several processors differ in from one that is as fast as all of
// them. The derivative of the number of jobs N(ρ) has a pole at ρ = m, that of one fast
// processor; the rest is smooth, and a short sum of harmonics Re(a·e^iωρ) over the loads
// from 0 to that of all workloads. Of these the expectation is a product, as it is of
// e^−ρx.
type harmonics struct {
	turns      []float64 // ω
	amplitudes []complex128
	misfit     float64 // the error of the derivative, at most
}

// newHarmonics fits a sum of harmonics to an error well below the tolerance.
func newHarmonics(q *erlang, load, tolerance float64) (*harmonics, error) {
	servers := float64(q.servers)
	rest := func(rho float64) float64 {
		left := servers - rho
		return q.marginal(rho) - servers/(left*left)
	}
	if load == 0 {
		return &harmonics{turns: []float64{0}, amplitudes: []complex128{complex(rest(0), 0)}}, nil
	}
	best := math.Inf(1)
	for count := 8; count <= 64; count *= 2 {
		h, err := fitHarmonics(rest, load, count)
		if err != nil {
			return nil, err
		}
		if best = min(best, h.misfit); h.misfit <= tolerance/4 {
			return h, nil
		}
	}
	return nil, fmt.Errorf("%s: %w: with %d processors the error is %.2g, not %g", Race, ErrNotReached, q.servers, best, tolerance)
}

// fitHarmonics fits f on [0, load] by harmonics that are periodic on twice that, in the
// sense of least squares. There are more of them than necessary, which is what makes them
// converge fast for a function that is not periodic, so the smallest singular values are
// left out: Huybrechs, "On the Fourier extension of nonperiodic functions", SIAM J. Numer.
// Anal. 47 (6), 2010.
func fitHarmonics(f func(float64) float64, load float64, count int) (*harmonics, error) {
	rows, columns := 6*count, 2*count+1
	a, b := mat.NewDense(rows, columns, nil), mat.NewDense(rows, 1, nil)
	h := &harmonics{turns: make([]float64, count+1), amplitudes: make([]complex128, count+1)}
	for k := range h.turns {
		h.turns[k] = math.Pi * float64(k) / load
	}
	for i := range rows {
		rho := load * (1 - math.Cos(math.Pi*(float64(i)+0.5)/float64(rows))) / 2
		b.Set(i, 0, f(rho))
		a.Set(i, 0, 1)
		for k := 1; k <= count; k++ {
			sin, cos := math.Sincos(h.turns[k] * rho)
			a.Set(i, 2*k-1, cos)
			a.Set(i, 2*k, sin)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return nil, fmt.Errorf("%s: %w: the singular values of %d harmonics were not found", Race, ErrNotReached, count)
	}
	const rounding = 1e-14
	var x mat.Dense
	svd.SolveTo(&x, b, svd.Rank(rounding))
	h.amplitudes[0] = complex(x.At(0, 0), 0)
	for k := 1; k <= count; k++ {
		h.amplitudes[k] = complex(x.At(2*k-1, 0), -x.At(2*k, 0))
	}
	for i := range 2*rows + 1 {
		rho := load * float64(i) / float64(2*rows)
		h.misfit = max(h.misfit, math.Abs(h.valueAt(rho)-f(rho)))
	}
	return h, nil
}

// valueAt returns the sum of the harmonics.
func (h *harmonics) valueAt(rho float64) float64 {
	sum := 0.0
	for k, a := range h.amplitudes {
		sum += real(a * cmplx.Rect(1, h.turns[k]*rho))
	}
	return sum
}

// meanTurn returns the mean of e^iωρ over ρ from 0 to z/ω, relative to its value at 0.
func meanTurn(z float64) complex128 {
	if small := 1e-9; z < small {
		return cmplx.Rect(1, z/2)
	}
	return cmplx.Rect(math.Sin(z/2)/(z/2), z/2)
}

// turn adds the harmonics to the integrals of the workloads in a group, and to the ways
// of the groups in it.
func (r *racing) turn(c *contest, around *way, inner []*way) {
	t, h := r.m.tree, r.beyond
	fine, half := make([]complex128, len(c.members)), make([]complex128, len(c.members))
	contribution := make([]complex128, len(c.members))
	for j, omega := range h.turns {
		for i, k := range c.members {
			contribution[i] = cmplx.Rect(1, omega*t.nodes[k].load)
		}
		c.multiplyTurns(contribution, fine, half)
		for i, k := range c.members {
			f, g := around.fineTurn[j]*fine[i], around.halfTurn[j]*half[i]
			if inner[i] != nil {
				inner[i].fineTurn[j], inner[i].halfTurn[j] = f, g
				continue
			}
			leaf := &t.nodes[k]
			own := h.amplitudes[j] * meanTurn(omega*leaf.load)
			r.fine[leaf.leaf].beyond += real(own * f)
			r.halfX[leaf.leaf].beyond += real(own * f)
			r.halfT[leaf.leaf].beyond += real(own * g)
		}
	}
}

// multiplyTurns computes the integrals from all nodes and from every other one, when
// being ahead contributes the given factor per member, of modulus 1, and being behind 1.
func (c *contest) multiplyTurns(contribution, fine, half []complex128) {
	n := len(c.members)
	if n == 1 {
		fine[0], half[0] = 1, 1
		return
	}
	if c.turns == nil {
		c.turns, c.turned = make([]complex128, n), make([]complex128, n)
	}
	clear(fine)
	clear(half)
	for k := range c.grid.points {
		ahead, behind, density := c.ahead[k*n:][:n], c.behind[k*n:][:n], c.density[k*n:][:n]
		product := complex(1, 0)
		for i, e := range contribution {
			c.turns[i] = complex(ahead[i]*real(e)+behind[i], ahead[i]*imag(e))
			c.turned[i] = product
			product *= c.turns[i]
		}
		after := complex(1, 0)
		for i := n - 1; i >= 0; i-- {
			add := complex(density[i], 0) * c.turned[i] * after
			fine[i] += add
			if k%2 == 0 {
				half[i] += 2 * add
			}
			after *= c.turns[i]
		}
	}
}
