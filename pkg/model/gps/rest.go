package gps

import (
	"math"

	"loadline.dev/loadline/pkg/model/queueing"
)

// rest is where threads are that are not at the processor: idle, or at the other stations. To the processor it is one
// place. The more threads are there, the longer they wait for each other: by how much follows from a network without
// the processor in which that many average threads go round (a flow-equivalent server: Chandy, Herzog and Woo, IBM
// Journal of Research and Development 19 (1), 1975). A thread of a leaf waits in proportion to an average one.
type rest struct {
	threads int         // in all
	idle    []float64   // of each leaf, per round in own times
	demands [][]float64 // of each leaf, at the other stations
	servers []int       // of those stations
	tokens  []int       // of each leaf
	cycles  []float64   // of each leaf, how long its own time takes

	average [][]float64 // mean wait of a thread at each of them, over its demand, by the number there
	scale   [][]float64 // wait of a thread of a leaf, over that mean
	slow    [][]float64 // of each leaf, by the number: the time over that without any slowdown
}

func newRest(n *Network, t *tree) *rest {
	leaves := len(t.leaves)
	r := &rest{servers: n.Servers[1:], idle: make([]float64, leaves), tokens: make([]int, leaves)}
	r.demands, r.scale = make([][]float64, leaves), make([][]float64, leaves)
	for l := range t.leaves {
		leaf := &t.leaves[l]
		r.threads += leaf.tokens
		r.tokens[l], r.idle[l] = leaf.tokens, leaf.job.idle()
		r.demands[l], r.scale[l] = make([]float64, len(r.servers)), make([]float64, len(r.servers))
		for i := range r.servers {
			r.demands[l][i], r.scale[l][i] = leaf.job.demand(i+1), 1
		}
	}
	return r
}

// unhindered returns how long a thread of a leaf is there per round if nothing slows it, in own times.
func (r *rest) unhindered(l int) float64 {
	time := r.idle[l]
	for _, d := range r.demands[l] {
		time += d
	}
	return time
}

// speed returns how fast a thread of a leaf passes while a number of threads are there, itself among them: 1 if nothing
// slows it.
func (r *rest) speed(l, there int) float64 {
	if r.slow == nil {
		return 1
	}
	return 1 / r.slow[l][there]
}

// pass implements [elsewhere].
func (r *rest) pass(l int, there []int) float64 { return float64(there[l]) * r.speed(l, total(there)) }

func total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// slowDown finds out how long average threads wait: those of the leaves as often as they come, which follows from how
// long their own times take.
func (r *rest) slowDown(cycles []float64) error {
	r.cycles = cycles
	average, total := queueing.Class{Demands: make([]float64, len(r.servers))}, 0.0
	for l := range r.idle {
		often := float64(r.tokens[l]) / r.cycles[l]
		total += often
		average.Idle += often * r.idle[l]
		for i, d := range r.demands[l] {
			average.Demands[i] += often * d
		}
	}
	average.Idle /= total
	busy := average.Idle
	for i := range average.Demands {
		average.Demands[i] /= total
		busy += average.Demands[i]
	}
	r.average = make([][]float64, len(r.servers))
	for i := range r.average {
		r.average[i] = make([]float64, r.threads+1)
	}
	before := 0
	for _, m := range r.samples() {
		if busy == 0 {
			break // no thread is ever there
		}
		average.Copies = m
		s, err := queueing.Solve(&queueing.Network{Servers: r.servers, Classes: []queueing.Class{average}}, queueing.Options{})
		if err != nil {
			return err
		}
		for i, waits := range r.average {
			waits[m] = s.Waits[0][i]
			for k := before + 1; k < m; k++ {
				waits[k] = waits[before] + (waits[m]-waits[before])*float64(k-before)/float64(m-before)
			}
		}
		before = m
	}
	r.update()
	return nil
}

// samples returns the numbers of threads for which waits are found; between them they are taken to be linear.
func (r *rest) samples() []int {
	const all = 32
	var samples []int
	for m := 1; m < r.threads; m += max(1, m/all) {
		samples = append(samples, m)
	}
	return append(samples, r.threads)
}

// update computes how slow threads are.
func (r *rest) update() {
	r.slow = make([][]float64, len(r.idle))
	for l := range r.slow {
		r.slow[l] = make([]float64, r.threads+1)
		unhindered := r.unhindered(l)
		for m := range r.slow[l] {
			r.slow[l][m] = 1
			for i, d := range r.demands[l] {
				if d > 0 {
					r.slow[l][m] += d * r.scale[l][i] * r.average[i][m] / unhindered
				}
			}
		}
	}
}

// waits returns the wait of a thread of a leaf at a station of the network, over its demand there. returns holds, for
// each leaf and number of threads there, the rate at which its threads go back to the processor then, or round.
func (r *rest) waits(returns [][]float64) func(leaf, station int) float64 {
	return func(l, station int) float64 {
		i := station - 1
		return r.scale[l][i] * weighted(r.average[i], returns[l])
	}
}

func weighted(values, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for k, w := range weights {
		sum += w * values[k]
		total += w
	}
	if total == 0 {
		return 0
	}
	return sum / total
}

// scaleTo scales the waits of each leaf to those in a solution, or part of the way, and returns the largest part of a
// round by which the whole change would move them.
func (r *rest) scaleTo(solution *queueing.Solution, returns [][]float64, part float64) (change float64) {
	for l := range r.scale {
		for i, d := range r.demands[l] {
			mean := weighted(r.average[i], returns[l])
			if d == 0 || mean == 0 {
				continue
			}
			scale := solution.Waits[l][i+1] / mean
			change = max(change, d*mean*math.Abs(scale-r.scale[l][i])/r.cycles[l])
			r.scale[l][i] += part * (scale - r.scale[l][i])
		}
	}
	r.update()
	return change
}
