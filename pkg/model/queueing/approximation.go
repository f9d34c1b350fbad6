package queueing

import (
	"math"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// approximation is the iteration of Schweitzer and Linearizer: the presences of the jobs give the
// queues that each finds, these its waits, and these the presences. Arrays over classes and
// stations are flat, as in closed.
type approximation struct {
	*closed
	presence   []float64   // the probability that one thread is found at a station
	offset     []float64   // queue found there beyond totals − presence: see linearizer
	dilation   []float64   // per class
	waits      []float64   // wait there, as a multiple of its service
	expansions []expansion // the wait as a function of the mean number of others found
	tilts      []float64   // log θ of each expansion; see tilted
	totals     []float64   // Σ threads · presence, per station
	newton     *newton

	everyone, others poissonbinomial.Distribution // scratch
	sums, slopes     []float64                    // scratch, per station
}

// newApproximation starts from jobs that are where they would be alone.
func newApproximation(c *closed) *approximation {
	size := c.n * c.m
	cells := make([]float64, 4*size+3*c.m+c.n)
	take := func(n int) (taken []float64) {
		taken, cells = cells[:n:n], cells[n:]
		return taken
	}
	a := &approximation{
		closed: c, presence: take(size), offset: take(size), waits: take(size), tilts: take(size), expansions: make([]expansion, size),
		dilation: take(c.n), totals: take(c.m), sums: take(c.m), slopes: take(c.m), newton: newNewton(c.m),
	}
	for x := range a.presence {
		a.presence[x] = min(1, c.pressure[x])
		a.expansions[x] = identity
	}
	for k := range a.dilation {
		a.dilation[k] = 1
	}
	a.sum()
	for i, servers := range c.servers {
		for x := i; x < size; x += c.m {
			a.tilts[x] = -math.Log(max(1, a.totals[i]/float64(servers)))
		}
	}
	return a
}

// sum sets the totals to the sums of the presences.
func (a *approximation) sum() {
	clear(a.totals)
	for row := 0; row < len(a.presence); row += a.m {
		for i := range a.totals {
			a.totals[i] += a.threads[row+i] * a.presence[row+i]
		}
	}
}

// found returns the mean number of others that one thread finds, x its class and
// station i.
func (a *approximation) found(x, i int) float64 {
	return max(0, a.totals[i]-a.presence[x]+a.offset[x])
}

// step lets each job find the totals less itself, computes its presence from that, and moves the
// totals towards the sums of the new presences. It returns the largest change of a presence, or
// relative change of a dilation.
func (a *approximation) step() (change float64) {
	clear(a.sums)
	a.newton.reset()
	for k := range a.n {
		change = max(change, a.respond(k))
	}
	a.newton.prepare(a.sums, a.totals)
	a.newton.advance(a.sums, a.totals)
	for row := 0; row < len(a.presence); row += a.m {
		for i, factor := range a.sums {
			a.presence[row+i] = min(1, a.presence[row+i]*factor)
		}
	}
	a.sum()
	return change
}

// respond computes where class k is, and adds that to the sums and its
// derivatives by the totals to the Jacobian.
func (a *approximation) respond(k int) (change float64) {
	row := k * a.m
	dilation := 1.0
	for i := range a.m {
		x := row + i
		found := a.found(x, i)
		a.waits[x], a.slopes[i] = a.exposure[x]*a.expansions[x].wait(found), a.exposure[x]*a.expansions[x].slope(found)
		dilation += a.demand[x] * a.waits[x]
		// A thread's own presence, which it does not find, grows with the total.
		if a.totals[i] > 0 {
			a.slopes[i] *= 1 - a.presence[x]/a.totals[i]
		}
	}
	change = math.Abs(dilation/a.dilation[k] - 1)
	a.dilation[k] = dilation
	for i := range a.m {
		x := row + i
		presence := (a.pressure[x] + a.waiting(x)*a.waits[x]) / dilation
		if presence < 1+rounding { // or else it is 1 whatever the totals
			a.newton.add(i, i, a.threads[x]*a.waiting(x)*a.slopes[i]/dilation)
			there := a.threads[x] * presence / dilation
			for l := range a.m {
				a.newton.add(i, l, -there*a.demand[row+l]*a.slopes[l])
			}
		}
		presence = min(1, presence)
		change = max(change, math.Abs(presence-a.presence[x]))
		a.presence[x] = presence
		a.sums[i] += a.threads[x] * presence
	}
	return change
}

// rounding is how far above 1 rounding may take a probability.
const rounding = 1e-9

// schweitzer takes the others that a job finds to be where they are on average
// (Schweitzer, "Approximate analysis of multiclass closed networks of queues",
// 1979). With one job per class and one server per station that is
//
//	R_ij = D_ij (1 + Σ_{k≠j} Q_ik),  Q_ik = R_ik / R_k
//
// It reports whether that settled within the limit.
func (a *approximation) schweitzer(tolerance float64, limit int) (iterations int, settled bool) {
	for iterations = 1; iterations <= limit; iterations++ {
		a.expandWaits()
		if a.step() <= tolerance {
			return iterations, true
		}
	}
	return limit, false
}
