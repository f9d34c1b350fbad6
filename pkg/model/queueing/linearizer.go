package queueing

import "math"

// linearizer estimates the queue that a job finds from the network without it, by the arrival
// theorem. It solves that network in the same way, and assumes that the absence of one more job has
// the same effect there as in the whole network: Chandy and Neuse, "Linearizer: a heuristic
// algorithm for queueing network models of computing systems", CACM 25 (2), 1982. With one job per
// class, and δ_ilk the change of the presence of job l at station i by the absence of job k, job j
// finds
//
//	Σ_{l≠j} (Q_il + δ_ilj)            in the whole network
//	Σ_{l≠j,k} (Q_il + δ_ilk + δ_ilj)  in the network that lacks job k
//
// The sums of δ are kept, so that one iteration over the n networks takes O(n²·m)
// steps: de Souza e Silva and Muntz, "A note on the computational cost of the
// Linearizer algorithm for queueing networks", IEEE Trans. Computers 39 (6), 1990.
//
// With many servers the wait depends on more than the mean that is found. Taking job j
// away is not a shift of the mean: a job that is always there occupies a server for
// certain. So job k waits, in the network that lacks job j, for what job j waits for in
// the whole network, less itself: see [expansion.waitOfOne]. Job k is there with probability
// q_k on average, and, P_k being its presence in the whole network, with about
//
//	b_k = q_k + P_k(1 − P_k) · (E[N | N ≥ c] − E[N]) / Σ_{l≠j} P_l(1 − P_l)
//
// while all servers are busy: jobs that vary N more are more often the reason. That adds
// up to E[N | N ≥ c] and is exact for equal jobs.
//
// A class of one job is taken away like any other. Implementations that correct only the rest of a
// job's own class do nothing at all for such classes.
type linearizer struct {
	*approximation
	lacks   [][]float64 // lacks[j] is δ for one job of class j taken away, per class and station
	known   bool        // δ is that of a solution of this very network
	damping float64     // how far offset follows δ in one iteration
	base    []float64   // offset − presence
	spread  []float64   // Σ threads · presence · (1 − presence), per station
	total   []float64   // scratch, per station
	wait    []float64   // scratch, per station
	fewer   []float64   // scratch, per station
	surplus []float64   // scratch, per station
}

// If the queue that a job finds followed δ at once, it would oscillate where about half of the jobs
// wait. It follows less closely when changes hardly shrink in spite of that.
const (
	firstDamping = 0.85
	leastDamping = 0.1
	lessDamping  = 0.8 // from one iteration to the next
	patience     = 3   // iterations before that
	slowChange   = 0.7 // of the change before
)

// newLinearizer starts with no correction: δ = 0 is Schweitzer's approximation.
func newLinearizer(a *approximation) *linearizer {
	size := len(a.presence)
	l := &linearizer{
		approximation: a, damping: firstDamping, lacks: make([][]float64, a.n),
		base: make([]float64, size), spread: make([]float64, a.m), total: make([]float64, a.m),
		wait: make([]float64, a.m), fewer: make([]float64, a.m), surplus: make([]float64, a.m),
	}
	cells := make([]float64, a.n*size)
	for j := range l.lacks {
		l.lacks[j] = cells[j*size : (j+1)*size : (j+1)*size]
	}
	return l
}

// solve iterates until presences in the whole network settle, given the results of the networks
// with a job less. It reports whether they did within the limit.
func (l *linearizer) solve(tolerance float64, limit int) (iterations int, settled bool) {
	l.gather()
	before := math.Inf(1)
	for iterations = range limit {
		change := l.settle(tolerance, limit)
		if change <= tolerance && (l.known || iterations > 0) {
			return iterations, true
		}
		if change > slowChange*before && iterations > patience {
			l.damping = max(leastDamping, l.damping*lessDamping)
		}
		before = change
		l.prepare()
		for j := range l.n {
			l.sweep(j)
		}
	}
	return limit, false
}

// settle iterates the whole network, and returns how much it changed at first.
func (l *linearizer) settle(tolerance float64, limit int) (change float64) {
	l.expandWaits()
	change = l.step()
	next := change
	for n := 0; next > tolerance && n < limit; n++ {
		next = l.step()
	}
	return change
}

// gather computes the offsets, Σ_l δ_ilk over all that job k may find.
func (l *linearizer) gather() {
	for k, delta := range l.lacks {
		offset := l.offset[k*l.m : (k+1)*l.m]
		for i := range offset {
			offset[i] = -delta[k*l.m+i]
		}
		for row := 0; row < len(delta); row += l.m {
			for i := range offset {
				offset[i] += l.threads[row+i] * delta[row+i]
			}
		}
	}
}

// prepare gets ready to sweep.
func (l *linearizer) prepare() {
	clear(l.spread)
	for row := 0; row < len(l.presence); row += l.m {
		for i := range l.spread {
			x := row + i
			l.base[x] = l.offset[x] - l.presence[x]
			l.spread[i] += l.threads[x] * l.presence[x] * (1 - l.presence[x])
		}
	}
}

// sweep takes a step in the network that lacks one job of class j.
func (l *linearizer) sweep(j int) {
	own := j * l.m
	for i := range l.total {
		l.total[i] = l.totals[i] - l.presence[own+i] + l.offset[own+i]
		l.fewer[i] = max(0, l.threads[own+i]-1)
		l.surplus[i] = 0
		if spread := l.spread[i] - l.presence[own+i]*(1-l.presence[own+i]); spread > 0 {
			l.surplus[i] = l.expansions[own+i].surplus / spread
		}
	}
	clear(l.sums)
	for k := range l.n {
		threads := l.threads[k*l.m : (k+1)*l.m]
		if k == j {
			threads = l.fewer
		}
		l.respond(j, k, threads)
	}
	l.newton.advance(l.sums, l.total)
	delta := l.lacks[j]
	for row := 0; row < len(delta); row += l.m {
		for i, factor := range l.sums {
			delta[row+i] += (delta[row+i] + l.presence[row+i]) * (factor - 1)
		}
	}
	for i := range l.total {
		x := own + i
		l.offset[x] += l.damping * (l.total[i] - l.totals[i] + l.presence[x] - l.offset[x])
		if l.fewer[i] == 0 {
			delta[x] = 0
		}
	}
}

// respond computes where class k is in the network that lacks one job of class j
// and has the given threads, and adds that to the sums.
func (l *linearizer) respond(j, k int, threads []float64) {
	m := len(threads)
	row, own := k*m, j*m
	base, demand, exposure := l.base[row:row+m], l.demand[row:row+m], l.exposure[row:row+m]
	presence, pressure, delta := l.presence[row:row+m], l.pressure[row:row+m], l.lacks[j][row:row+m]
	other, total, wait, sums := l.lacks[k][own:own+m], l.total[:m], l.wait[:m], l.sums[:m]
	dilation := 1.0
	for i, servers := range l.servers[:m] {
		found := max(0, total[i]+base[i]-delta[i]-other[i])
		if servers > 1 {
			q := presence[i] + delta[i]
			b := q + presence[i]*(1-presence[i])*l.surplus[i]
			found = l.expansions[own+i].waitOfOne(found, q, b)
		}
		wait[i] = exposure[i] * found
		dilation += demand[i] * wait[i]
	}
	speed := 1 / dilation
	for i := range m {
		now := (pressure[i] + min(pressure[i], demand[i])*wait[i]) * speed
		if now > 1 {
			now = 1
		}
		sums[i] += threads[i] * now
		delta[i] = now - presence[i]
	}
}
