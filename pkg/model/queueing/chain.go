package queueing

import "math"

// byChain returns the exact waits, job by job. It has the reach of the recursion
// by chain of Conway and Georganas ("RECAL", JACM 33 (4), 1986): exponential in
// the number of stations, not of jobs.
//
// The weight of a placement of all jobs is a product over the jobs and a product
// over the stations, and the latter depends on nothing but how many are where:
//
//	Π_j D_{i(j),j} · Π_i w_i(n_i),  w_i(n) = n! / Π_{l≤n} min(l, c_i)
//
// (Baskett et al., JACM 22 (2), 1975, with one job per class.) So it is enough to
// keep the numbers (n_1,…,n_m) and forget the names: C(n+m, m) states instead of
// 2ⁿ. Placing one job after the other gives f_j, the weight of all placements of
// the first j jobs with these numbers; going back from the last to the first
// gives b_j, the weight of all that may follow. What job j finds at station i is
// the weight of all states with it there, relative to those with it idle:
//
//	1 + W_ij = Σ_n f_{j−1}(n) b_j(n + e_i) / Σ_n f_{j−1}(n) b_j(n)
//
// All terms are positive, so no digit is lost. To keep them in range, demands at station i are
// multiplied by θ_i, near the slowdown of a job there, and w_i(n) divided by θ_iⁿ; and each job is
// scaled to a sum of 1, so that f_j is a distribution and b_j a mean.
func byChain(c *closed, copies []int) (waits []float64) {
	jobs := total(copies)
	scale, norm := c.scales()
	weight := make([]float64, int(states(jobs, c.m)))
	logs, middle := c.logWeights(jobs, scale)
	x := newSimplex(jobs, c.m, func(s int, at []int) {
		log := -middle
		for i, n := range at {
			log += logs[i][n]
		}
		// Far from the middle, where f is as good as 0, it must only be finite.
		weight[s] = math.Exp(max(-maxLog, min(maxLog, log)))
	})

	idle, demand := make([]float64, c.n), make([]float64, c.n*c.m)
	for k := range idle {
		idle[k] = c.idle[k] / norm[k]
		for i := range c.m {
			demand[k*c.m+i] = c.demand[k*c.m+i] * scale[i] / norm[k]
		}
	}
	before := make([][]float64, c.n) // f just before the last copy of each class
	f, placed := []float64{1}, 0
	for k, n := range copies {
		for range n {
			before[k] = f
			placed++
			f = x.place(f, placed, idle[k], demand[k*c.m:(k+1)*c.m])
		}
	}
	waits = make([]float64, c.n*c.m)
	for k := c.n - 1; k >= 0; k-- {
		placed--
		x.waits(before[k], weight, waits[k*c.m:(k+1)*c.m])
		for i := range c.m {
			waits[k*c.m+i] = max(0, scale[i]*waits[k*c.m+i]-1)
		}
		x.unplace(weight[:x.sizes[placed]], weight, idle[k], demand[k*c.m:(k+1)*c.m])
		for range copies[k] - 1 {
			placed--
			x.unplace(weight[:x.sizes[placed]], weight, idle[k], demand[k*c.m:(k+1)*c.m])
		}
	}
	return waits
}

// place returns f with one more job, the j-th.
func (x *simplex) place(f []float64, j int, idle float64, demand []float64) []float64 {
	after := make([]float64, x.sizes[j])
	for s, weight := range f {
		after[s] += idle * weight
		for i, d := range demand {
			after[x.next[s*x.m+i]] += d * weight
		}
	}
	return after
}

// unplace turns b_j into b_{j−1}, in place: a state only asks those after it.
func (x *simplex) unplace(before, after []float64, idle float64, demand []float64) {
	for s := range before {
		sum := idle * after[s]
		for i, d := range demand {
			sum += d * after[x.next[s*x.m+i]]
		}
		before[s] = sum
	}
}

// waits fills in, per station, the weight of all states with one more job there,
// relative to that of the states without.
func (x *simplex) waits(f, after, waits []float64) {
	without := 0.0
	for s, weight := range f {
		without += weight * after[s]
		for i := range waits {
			waits[i] += weight * after[x.next[s*x.m+i]]
		}
	}
	for i := range waits {
		waits[i] /= without
	}
}

// maxLog is a logarithm well within those of doubles.
const maxLog = 600

// logWeights returns log(w_i(n)/θ_iⁿ) for each station and up to n jobs, and their sum at about the
// most likely numbers.
func (c *closed) logWeights(jobs int, scale []float64) (logs [][]float64, middle float64) {
	logs = make([][]float64, c.m)
	for i, servers := range c.servers {
		logs[i] = make([]float64, jobs+1)
		for n := 1; n <= jobs; n++ {
			logs[i][n] = logs[i][n-1] + math.Log(float64(n)/float64(min(n, servers))/scale[i])
		}
		middle += logs[i][min(jobs, int(scale[i]*float64(servers)))]
	}
	return logs, middle
}
