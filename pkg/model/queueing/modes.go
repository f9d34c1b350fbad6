package queueing

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// boundary solves queues with exponential phases of service that are served first come
// first served by m equal servers: M/H/m. The state is how many servers are busy with
// each phase, and how many jobs wait; the phase of a job is drawn when its service
// begins.
//
// While all servers are busy, the measures of the states with q jobs waiting are a sum
// of modes r_c^q y_c, one for each state c = (c_1, …, c_k), Σ c_i = m, of the busy
// servers. The generator of the completions, each followed by the next job, is that of m
// independent servers. A mode is therefore made of the eigenvectors of one server with
// the matrix −diag(μ) + r μ pᵀ: the eigenvalue −ν_i, given by
//
//	ν_i Σ_j p_j/(μ_j − ν_i) = (1 − r)/r,   μ_(i−1) < ν_i < μ_i,
//
// has the left eigenvector p_j/(μ_j − ν_i), and y_c is the symmetric product of c_i
// of each. With θ = λ(1 − r)/r the balance of the mode reads
//
//	Σ c_i ν_i(θ) = θ,
//
// which has one root above 0 for each c. As the jobs left waiting behind a job are the arrivals
// during its wait (the distributional form of Little's law), the mode is a part of the wait that is
// exponentially distributed with the rate θ: de Smit, "The queue GI/M/s with customers of different
// types or the queue GI/H_m/s", Advances in Applied Probability 15 (2), 1983, where the same
// structure follows from a factorization. The weights of the modes follow from the states with idle
// servers, which are eliminated level by level.
//
// Time and memory are those of linear equations with C(m + k − 1, k − 1) unknowns for
// up to m servers and k phases. Compared with the matrix-geometric solution, the
// probabilities are right to 1e-9.
type boundary struct {
	phases
	states *occupancy
	levels []*mat.LU    // [j] minus the generator of the states with j busy servers, censored to up to j
	up     []*mat.Dense // [j] from a state with j busy servers, the state in which j + 1 are first
}

func newBoundary(x phases) *boundary {
	return &boundary{phases: x, states: newOccupancy(len(x.list))}
}

// grow eliminates the states with one more busy server.
func (b *boundary) grow() {
	j := len(b.levels)
	b.states.grow()
	from, to := b.states.size[j], b.states.size[j+1]
	generator, arrivals := mat.NewDense(from, from, nil), mat.NewDense(from, to, nil)
	if j > 0 {
		generator.Scale(-1, b.completed(j))
	}
	for n := range from {
		generator.Set(n, n, generator.At(n, n)+b.arrival+b.completions(n, j))
		for i, p := range b.list {
			arrivals.Set(n, b.states.with(n, i), b.arrival*p.share)
		}
	}
	factors, up := new(mat.LU), new(mat.Dense)
	factors.Factorize(generator)
	mustSolve(factors.SolveTo(up, false, arrivals))
	b.levels, b.up = append(b.levels, factors), append(b.up, up)
}

// mustSolve panics for equations that have no solution. Badly conditioned ones have one: they are
// badly conditioned in the scale of the unknowns, not in their sum.
func mustSolve(err error) {
	if condition := mat.Condition(0); err != nil && (!errors.As(err, &condition) || math.IsInf(float64(condition), 1)) {
		panic(err)
	}
}

// completions returns the rate of completions in a state with j busy servers.
func (b *boundary) completions(state, j int) float64 {
	sum := 0.0
	for i, p := range b.list {
		sum += float64(b.states.servers(state, i, j)) * p.rate
	}
	return sum
}

// completed returns the rates from states with j busy servers, by way of a completion,
// to those in which j are busy again.
func (b *boundary) completed(j int) *mat.Dense {
	rates := mat.NewDense(b.states.size[j], b.states.size[j], nil)
	for n := range b.states.size[j] {
		row := rates.RawRowView(n)
		for i, p := range b.list {
			if servers := b.states.servers(n, i, j); servers > 0 {
				for k, probability := range b.up[j-1].RawRowView(b.states.without(n, i)) {
					row[k] += float64(servers) * p.rate * probability
				}
			}
		}
	}
	return rates
}

// idle returns the measure of all states with idle servers of m, given those of the
// states in which all are busy and no job waits.
func (b *boundary) idle(full []float64, m int) float64 {
	sum := 0.0
	for j := m; j > 0; j-- {
		entered := mat.NewVecDense(b.states.size[j-1], nil)
		for n, measure := range full {
			for i, p := range b.list {
				if servers := b.states.servers(n, i, j); servers > 0 {
					to := b.states.without(n, i)
					entered.SetVec(to, entered.AtVec(to)+measure*float64(servers)*p.rate)
				}
			}
		}
		var level mat.VecDense
		mustSolve(b.levels[j-1].SolveVecTo(&level, true, entered))
		full = level.RawVector().Data
		sum += mat.Sum(&level)
	}
	return sum
}

// wait returns the waiting time with m servers.
func (b *boundary) wait(m int) delays {
	for len(b.levels) < m {
		b.grow()
	}
	size := b.states.size[m]
	rates, modes := make([]float64, size), mat.NewDense(size, size, nil)
	for c := range size {
		rates[c] = b.decay(c, m)
		b.mode(c, m, rates[c], modes.RawRowView(c))
	}
	weights := b.weights(modes, rates, m)
	var full mat.VecDense
	full.MulVec(modes.T(), weights)
	total := b.idle(full.RawVector().Data, m)
	wait := make(delays, size)
	for c := range wait {
		waiting := (b.arrival + rates[c]) / rates[c] // 1/(1 − r)
		wait[c] = delay{weights.AtVec(c) * mat.Sum(modes.RowView(c)) * waiting, rates[c]}
		total += wait[c].waits
	}
	for c := range wait {
		wait[c].waits /= total
	}
	return wait
}

// weights returns those of the modes, up to a factor, from the balance of the states in
// which all servers are busy and no job waits:
//
//	Σ a_c y_c (completed − λ/r_c) = 0
//
// One of the equations follows from the others, and makes room for the scale.
func (b *boundary) weights(modes *mat.Dense, rates []float64, m int) *mat.VecDense {
	equations := new(mat.Dense)
	equations.Mul(modes, b.completed(m))
	last := len(rates) - 1
	for c, rate := range rates {
		row := equations.RawRowView(c)
		for n, measure := range modes.RawRowView(c) {
			row[n] -= (b.arrival + rate) * measure
		}
		row[last] = 1
	}
	for n := range last { // of like size, whatever the probability of the state
		largest := 0.0
		for c := range rates {
			largest = max(largest, math.Abs(equations.At(c, n)))
		}
		for c := range rates {
			equations.Set(c, n, equations.At(c, n)/largest)
		}
	}
	scale, weights := mat.NewVecDense(len(rates), nil), new(mat.VecDense)
	scale.SetVec(last, 1)
	mustSolve(weights.SolveVec(equations.T(), scale))
	return weights
}

// decay returns the rate θ of the mode c.
func (b *boundary) decay(c, m int) float64 {
	slowest := b.states.total[c] == 0 // which has a root at 0, too
	return bracketed(0, b.completions(c, m), func(rate float64) float64 {
		if slowest && rate == 0 {
			return 1 - float64(m)/b.offered() // the limit of the expression below
		}
		sum := rate
		for i := range b.list {
			if servers := b.states.servers(c, i, m); servers > 0 {
				sum -= float64(servers) * b.root(i, rate/b.arrival)
			}
		}
		if slowest {
			return sum / rate
		}
		return sum
	})
}

// mode writes the measures y_c of the mode c, as products of polynomials in the phases.
func (b *boundary) mode(c, m int, rate float64, measures []float64) {
	measures[0] = 1
	next, j := make([]float64, len(measures)), 0
	for i := range b.list {
		servers := b.states.servers(c, i, m)
		if servers == 0 {
			continue
		}
		factor := b.eigenvector(i, rate)
		for range servers {
			clear(next)
			for n := range b.states.size[j] {
				for k, value := range factor {
					next[b.states.with(n, k)] += measures[n] * value
				}
			}
			copy(measures, next)
			j++
		}
	}
	normalize(measures)
}

// eigenvector returns the one of a single server for ν_i.
func (b *boundary) eigenvector(i int, rate float64) []float64 {
	root, vector := b.root(i, rate/b.arrival), make([]float64, len(b.list))
	for k, p := range b.list {
		vector[k] = p.share / (p.rate - root)
	}
	normalize(vector)
	return vector
}

// normalize makes the absolute values add up to 1.
func normalize(values []float64) {
	sum := 0.0
	for _, value := range values {
		sum += math.Abs(value)
	}
	for i := range values {
		values[i] /= sum
	}
}
