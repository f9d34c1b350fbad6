package queueing

import "math"

// simplex numbers the ways in which up to n jobs can be spread over m stations:
// first the one with no job at any, then those with one job, and so on. The
// states with at most j jobs are the first states(j, m).
//
// With t_i the number of jobs at the stations 1..i, the state has the index
// Σ_i C(t_i + i − 1, i), the combinatorial number system; one more job at station
// i adds one to t_i..t_m, and so Σ_{l≥i} C(t_l + l − 1, l − 1) to the index.
type simplex struct {
	m     int
	sizes []int   // sizes[j] = states(j, m)
	next  []int32 // next[s·m + i] is state s with one more job at station i; for fewer than n jobs
}

// states returns C(j + m, m), the number of states with at most j jobs, as a
// float for it may be huge.
func states(j, m int) float64 {
	product := 1.0
	for i := 1; i <= m; i++ {
		product *= float64(j+i) / float64(i)
	}
	return math.Round(product)
}

// newSimplex numbers the states, and calls visit with the index of each and the
// number of jobs at each station.
func newSimplex(n, m int, visit func(s int, jobs []int)) *simplex {
	x := &simplex{m: m, sizes: make([]int, n+1)}
	for j := range x.sizes {
		x.sizes[j] = int(states(j, m))
	}
	steps := make([][]int32, m) // steps[i][t] = C(t + i, i), what t_i of t adds
	for i := range steps {
		steps[i] = make([]int32, n+1)
		for t := range steps[i] {
			steps[i][t] = int32(states(t, i))
		}
	}
	if n > 0 {
		x.next = make([]int32, x.sizes[n-1]*m)
	}
	sums, jobs := make([]int, m), make([]int, m)
	for s := range x.sizes[n] {
		visit(s, jobs)
		if s*m < len(x.next) {
			index := int32(s)
			for i := m - 1; i >= 0; i-- {
				index += steps[i][sums[i]]
				x.next[s*m+i] = index
			}
		}
		advance(sums, jobs)
	}
	return x
}

// advance moves on to the next state: the first t_i that may grow without
// passing t_{i+1} does, and those before it return to 0.
func advance(sums, jobs []int) {
	for i := range sums {
		if i+1 == len(sums) || sums[i] < sums[i+1] {
			sums[i]++
			clear(sums[:i])
			break
		}
	}
	before := 0
	for i, t := range sums {
		jobs[i] = t - before
		before = t
	}
}
