package queueing

// byPopulation returns the exact waits by the convolution algorithm (Buzen, CACM
// 16 (9), 1973; Reiser and Kobayashi, IBM J. R&D 19 (3), 1975) over all the
// populations from none to all jobs, Π(copies + 1) of them: the subsets of the
// jobs where all are different.
//
// G_i(S) is the weight of all placements of a population S in idle time and the
// first i stations. Station by station, with p_n(S) the part with n jobs at
// station i,
//
//	p_0(S) = G_{i−1}(S)
//	p_n(S) = Σ_j S_j D_ij p_{n−1}(S − j) / min(n, c_i)
//	G_i(S) = Σ_n p_n(S)
//
// (the factor S_j makes G a mean over placements: copies change places freely). From n = c_i on all
// p_n are added up as one. A job of class j finds at station i the weight that its demand there
// adds, relative to its idle time:
//
//	1 + W_ij = (∂G/∂D_ij) / (∂G/∂Z_j)
//
// and the derivatives come from one pass back through the recursion. Unlike the
// recursion of mean value analysis for stations with many servers (Reiser, 1981),
// which takes p_0 = 1 − Σ p_n and drowns in rounding there, this only adds
// positive numbers. For one server both are the same.
func byPopulation(c *closed, copies []int) (waits []float64) {
	l := newLattice(c, copies)
	weight := l.idleWeights()
	parts := make([][]float64, c.m)
	for i := range parts {
		parts[i], weight = l.add(i, weight)
	}

	last := l.states - 1
	waits = make([]float64, c.n*c.m)
	slopes := make([]float64, l.states) // ∂G(all jobs)/∂G_i(S)
	slopes[last] = 1
	for i := c.m - 1; i >= 0; i-- {
		l.undo(i, parts[i], slopes, waits)
	}
	for k, n := range copies {
		idle := float64(n) * weight[last-l.strides[k]]
		for i := range c.m {
			x := k*c.m + i
			waits[x] = max(0, waits[x]/idle-1)
		}
	}
	return waits
}

// lattice holds the populations from none to all jobs.
type lattice struct {
	*closed
	copies  []int
	norm    []float64 // divisor of the times of each class; see scales
	strides []int     // how far apart are populations that differ by one job of a class
	states  int
	idle    []float64 // per class, divided
}

func newLattice(c *closed, copies []int) *lattice {
	l := &lattice{closed: c, copies: copies, states: 1, strides: make([]int, c.n), idle: make([]float64, c.n)}
	_, l.norm = c.scales()
	for k, n := range copies {
		l.strides[k] = l.states
		l.states *= n + 1
		l.idle[k] = c.idle[k] / l.norm[k]
	}
	return l
}

// idleWeights returns G of idle time alone.
func (l *lattice) idleWeights() []float64 {
	weights := make([]float64, l.states)
	weights[0] = 1
	l.each(func(s int, population []int) {
		for k, n := range population {
			if n > 0 {
				weights[s] = l.idle[k] * weights[s-l.strides[k]]
				break
			}
		}
	})
	return weights
}

// each visits the populations in an order in which a smaller one comes before a
// larger one.
func (l *lattice) each(visit func(s int, population []int)) {
	population := make([]int, l.n)
	for s := range l.states {
		visit(s, population)
		for k := range population {
			if population[k]++; population[k] <= l.copies[k] {
				break
			}
			population[k] = 0
		}
	}
}

// eachBackward visits them in the opposite order.
func (l *lattice) eachBackward(visit func(s int, population []int)) {
	population := append([]int(nil), l.copies...)
	for s := l.states - 1; s >= 0; s-- {
		visit(s, population)
		for k := range population {
			if population[k]--; population[k] >= 0 {
				break
			}
			population[k] = l.copies[k]
		}
	}
}

// add adds station i to the network: it takes G without it, and returns the
// parts p_0..p_{c−1} of each population, the last with all that is beyond it,
// and their sum G.
func (l *lattice) add(i int, without []float64) (parts, with []float64) {
	c := l.servers[i]
	parts, with = make([]float64, l.states*c), make([]float64, l.states)
	l.each(func(s int, population []int) {
		here := parts[s*c : (s+1)*c]
		here[0] = without[s]
		for k, n := range population {
			if n == 0 {
				continue
			}
			one := float64(n) * l.demand[k*l.m+i] / l.norm[k]
			fewer := parts[(s-l.strides[k])*c:][:c]
			for p := 1; p < c; p++ {
				here[p] += one / float64(p) * fewer[p-1]
			}
			here[c-1] += one / float64(c) * fewer[c-1]
		}
		for _, p := range here {
			with[s] += p
		}
	})
	return parts, with
}

// undo goes back through add: it turns the derivatives of the result by G with
// station i into those by G without it, and adds up those by the demands there.
func (l *lattice) undo(i int, parts, slopes, byDemand []float64) {
	c := l.servers[i]
	byPart := make([]float64, l.states*c)
	l.eachBackward(func(s int, population []int) {
		here := byPart[s*c : (s+1)*c]
		for p := range here {
			here[p] += slopes[s]
		}
		for k, n := range population {
			if n == 0 {
				continue
			}
			demand := l.demand[k*l.m+i] / l.norm[k]
			t := (s - l.strides[k]) * c
			fewer, byFewer := parts[t:t+c], byPart[t:t+c]
			change := 0.0
			for p := 1; p < c; p++ {
				each := float64(n) / float64(p) * here[p]
				byFewer[p-1] += each * demand
				change += each * fewer[p-1]
			}
			each := float64(n) / float64(c) * here[c-1]
			byFewer[c-1] += each * demand
			byDemand[k*l.m+i] += change + each*fewer[c-1]
		}
		slopes[s] = here[0]
	})
}
