package gps

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// closure approximates the processor when there are too many states for a chain. It takes the
// probability of a set A of threads at the processor to be
//
//	P(A) ∝ Φ(|A|) · Π_{k∈A} θ_k
//
// with the odds θ such that each thread comes to the processor as often as it leaves, and the factors Φ
// such that the number of threads there goes up as often as it goes down. Both hold of the true
// distribution, too. With equal weights and no limits this is the product form of processor sharing, so
// exact; for two threads it is exact whatever their weights; with many it is a mean field.
type closure struct {
	tree   *tree
	rest   *rest
	burst  []float64 // of each leaf
	away   []float64 // time elsewhere between two bursts, if nothing slows it
	weight []float64 // of each leaf's thread among all threads: see flatten
	limit  []float64

	certain int       // how many threads are always at the processor
	odds    []float64 // log θ: infinite for a thread that is always there, or never
	phi     []float64 // log Φ, by the number of threads
	present []float64 // probability that a thread of the leaf is at the processor
	rate    []float64 // mean share of a thread while present

	number []float64   // probability of each number of threads at the processor
	given  [][]float64 // of each leaf, by the number, the probability that a thread of it is there
	share  [][]float64 // of each leaf, by the number, the mean share of a thread while present
	even   bool        // whether all threads have one weight and one limit, so that they share evenly
	grid   []float64   // levels at which the processor may be shared
	takes  [][]float64 // at each, what a thread of each leaf takes
	sums   []sums      // at each, of the shares of threads
}

const (
	// maxStep bounds the change of the logarithm of odds in a round.
	maxStep = 3
	// closureTolerance is by which fraction the shares may still change.
	closureTolerance = 1e-5
	// lastTolerance is that after all rounds, still below the error of the closure.
	lastTolerance = 1e-2
	// closureRounds bounds the rounds of an attempt. After circling rounds the iteration counts as going in circles; steps are
	// halved every shortening rounds.
	closureRounds, circling, shortening = 2000, 200, 100
	// damping is the part of the way to the balance that the odds and factors go in a round, and leastDamping the smallest.
	damping, leastDamping = 0.7, 0.02
	// negligible is the probability of numbers of threads that are left out.
	negligible = 1e-9
)

// newClosure returns the closure of a tree, to be solved.
func newClosure(t *tree, rest *rest) *closure {
	n := len(t.leaves)
	c := &closure{
		tree: t, rest: rest, given: make([][]float64, n), share: make([][]float64, n),
		grid: make([]float64, mostLevels), takes: make([][]float64, mostLevels), sums: make([]sums, mostLevels),
	}
	for i := range c.takes {
		c.takes[i] = make([]float64, n)
	}
	for _, values := range []*[]float64{&c.burst, &c.away, &c.weight, &c.limit, &c.odds, &c.present, &c.rate} {
		*values = make([]float64, n)
	}
	threads := 0
	for l := range t.leaves {
		threads += t.leaves[l].tokens
		c.burst[l] = t.leaves[l].job.burst()
	}
	for l := range n {
		c.given[l], c.share[l] = make([]float64, threads+1), make([]float64, threads+1)
	}
	c.phi, c.number = make([]float64, threads+1), make([]float64, threads+1)
	c.reset()
	return c
}

// reset forgets what was found.
func (c *closure) reset() {
	clear(c.away)
	for k := 1; k < len(c.phi); k++ {
		c.phi[k] = c.phi[k-1] + math.Log(max(1, float64(k)/c.tree.cores))
	}
}

// startFrom starts with the solution of another closure of the same leaves.
func (c *closure) startFrom(other *closure) {
	copy(c.away, other.away)
	copy(c.odds, other.odds)
	copy(c.present, other.present)
	copy(c.rate, other.rate)
	copy(c.phi, other.phi)
}

// start sets how long threads are away between bursts. Odds are kept from one time to the next.
func (c *closure) start() {
	c.certain = 0
	for l := range c.away {
		leaf, first := &c.tree.leaves[l], c.away[l] == 0
		switch demand := leaf.job.demand(0); {
		case demand == 0:
			c.away[l], c.odds[l], c.present[l], c.rate[l] = math.Inf(1), math.Inf(-1), 0, 1
		case c.rest.unhindered(l) <= roundings:
			c.away[l], c.odds[l], c.present[l] = 0, math.Inf(1), 1
			c.certain += leaf.tokens
		default:
			c.away[l] = c.burst[l] * c.rest.unhindered(l) / demand
			if first {
				c.present[l] = c.burst[l] / (c.burst[l] + c.away[l])
				c.odds[l] = math.Log(c.burst[l] / c.away[l])
			}
		}
	}
}

// solve finds the odds and factors. It takes O(L·n·(n + mostLevels)) time per round for n threads of L
// leaves, and some dozens of rounds. Threads of a pod of little weight slow each other down while they wait, and odds and factors can
// then circle around the balance. [anderson] acceleration commonly finds it; where that wanders, shorter steps commonly do.
func (c *closure) solve() error {
	for _, settles := range []func() bool{c.accelerate, c.relax} {
		c.start()
		c.anchor()
		if settles() {
			return nil
		}
		c.reset()
	}
	return fmt.Errorf("closure: %w after %d rounds", ErrUnsettled, closureRounds)
}

// accelerate iterates, and combines rounds once the iteration goes in circles. It reports whether it has settled.
func (c *closure) accelerate() bool {
	var rounds anderson
	off := 0.0
	for round := range closureRounds {
		before := c.state()
		if off = c.round(damping); off < closureTolerance {
			return true
		}
		if round < circling {
			continue
		}
		after := c.state()
		if len(after) != len(before) || floats.HasNaN(after) { // some odds have become infinite
			return false
		}
		c.goTo(rounds.next(before, after))
	}
	return off < lastTolerance
}

// relax iterates with steps that become shorter by half each time that the iteration goes in circles. It reports whether it has
// settled.
func (c *closure) relax() bool {
	off := 0.0
	for round := range closureRounds {
		step := math.Ldexp(damping, -round/shortening)
		if off = c.round(max(leastDamping, step)); off < closureTolerance {
			return true
		}
	}
	return off < lastTolerance
}

// round moves the odds and factors by a part of the way to the balance. It returns the relative error of the shares before, as
// [closure.balance] does.
func (c *closure) round(part float64) (off float64) {
	c.flatten()
	c.setGrid()
	low, high := c.distribute()
	for k := max(1, low); k <= high; k++ {
		c.divide(k)
	}
	if off = c.balance(part); off < closureTolerance {
		return off
	}
	c.cross(low, high, part)
	c.anchor()
	return off
}

// state returns all that a round goes on from: the odds that are finite, with the probabilities that weights follow from, and the
// factors.
func (c *closure) state() []float64 {
	var state []float64
	for l, odds := range c.odds {
		if !math.IsInf(odds, 0) {
			state = append(state, odds, c.present[l])
		}
	}
	return append(state, c.phi...)
}

// goTo has the next round go on from a state.
func (c *closure) goTo(state []float64) {
	for l, odds := range c.odds {
		if !math.IsInf(odds, 0) {
			c.odds[l], c.present[l] = state[0], max(negligible, min(1-negligible, state[1]))
			state = state[2:]
		}
	}
	copy(c.phi, state)
}

// flatten sets the weight and limit of a thread of each leaf among all threads: of the weight of each of its groups, the part that
// the thread has there when the others are present as often as they are.
func (c *closure) flatten() {
	t := c.tree
	idle := make([]float64, len(t.groups))   // probability that no member wants the processor
	active := make([]float64, len(t.groups)) // mean weight of members that do
	tokens := make([]float64, len(t.groups)) // mean number of threads that do
	for g := len(t.groups) - 1; g >= 0; g-- {
		idle[g] = 1
		for _, l := range t.outer[g] {
			leaf := &t.leaves[l]
			none := math.Pow(1-c.present[l], float64(leaf.tokens))
			idle[g] *= none
			tokens[g] += float64(leaf.tokens) * c.present[l]
			if leaf.own {
				active[g] += float64(leaf.tokens) * c.present[l] * leaf.weight
			} else {
				active[g] += (1 - none) * leaf.weight
			}
		}
		for _, h := range t.inner[g] {
			idle[g] *= idle[h]
			tokens[g] += tokens[h]
			active[g] += (1 - idle[h]) * t.groups[h].Weight
		}
	}
	for l := range t.leaves {
		leaf := &t.leaves[l]
		weight, limit, there := leaf.weight, leaf.limit, 1+float64(leaf.tokens-1)*c.present[l]
		own, usual := leaf.weight, leaf.weight*c.present[l] // of the member that the thread is part of, and its mean
		if !leaf.own {
			weight /= there
			limit = min(1, limit/there)
			usual = leaf.weight * (1 - math.Pow(1-c.present[l], float64(leaf.tokens)))
		}
		for g := leaf.group; ; g = t.groups[g].Parent {
			if t.groups[g].Limit > 0 {
				limit = min(limit, t.groups[g].Limit/(1+tokens[g]-c.present[l]))
			}
			if g == 0 {
				break
			}
			weight *= t.groups[g].Weight / (own + active[g] - usual)
			own, usual = t.groups[g].Weight, t.groups[g].Weight*(1-idle[g])
		}
		c.weight[l], c.limit[l] = weight, limit
	}
}

// distribute computes how many threads are at the processor, and how likely each is there given that
// number. It returns the range of numbers that are not negligible.
func (c *closure) distribute() (low, high int) {
	var all, others poissonbinomial.Distribution
	all.Reset()
	for l := range c.odds {
		for range c.tree.leaves[l].tokens {
			if !math.IsInf(c.odds[l], 0) {
				all.Add(c.chance(l))
			}
		}
	}
	base := all.Probability() // without those that are always there
	largest := math.Inf(-1)
	for k, p := range base {
		largest = max(largest, math.Log(p)+c.phi[c.certain+k])
	}
	clear(c.number)
	total := 0.0
	for k, p := range base {
		if p > 0 {
			c.number[c.certain+k] = math.Exp(math.Log(p) + c.phi[c.certain+k] - largest)
			total += c.number[c.certain+k]
		}
	}
	low, high = len(c.number), 0
	for k := range c.number {
		c.number[k] /= total
		if c.number[k] > negligible {
			low, high = min(low, k), k
		}
	}
	for l := range c.odds {
		var without []float64
		if !math.IsInf(c.odds[l], 0) {
			others.Without(&all, c.chance(l))
			without = others.Probability()
		}
		for k := low; k <= high; k++ {
			switch before := k - c.certain - 1; {
			case math.IsInf(c.odds[l], 1):
				c.given[l][k] = 1
			case before < 0 || before >= len(without):
				c.given[l][k] = 0
			default:
				c.given[l][k] = min(1, c.chance(l)*without[before]/base[before+1])
			}
		}
	}
	return low, high
}

// chance returns the probability that the odds of a leaf's threads stand for.
func (c *closure) chance(l int) float64 { return 1 / (1 + math.Exp(-c.odds[l])) }

// balance moves the odds of each thread towards where it comes to the processor as often as it leaves. It returns
// by which fraction, at most, a round takes longer or shorter by how often bursts end than by how
// long they last.
func (c *closure) balance(part float64) float64 {
	worst := 0.0
	for l := range c.odds {
		if math.IsInf(c.odds[l], -1) {
			continue
		}
		present, flow, back := 0.0, 0.0, 0.0
		for k, p := range c.number {
			present += p * c.given[l][k]
			flow += p * c.given[l][k] * c.share[l][k]
			back += p * (1 - c.given[l][k]) * c.rest.speed(l, c.rest.threads-k)
		}
		before := c.rate[l]
		c.present[l], c.rate[l] = present, flow/present
		if math.IsInf(c.odds[l], 1) {
			worst = max(worst, math.Abs(before/c.rate[l]-1))
			continue
		}
		away := c.away[l]
		if back > 0 {
			away *= (1 - present) / back
		}
		worst = max(worst, math.Abs(c.burst[l]/flow/(c.burst[l]/c.rate[l]+away)-1))
		due := math.Log(c.burst[l]/(c.rate[l]*away)) - math.Log(present/(1-present))
		c.odds[l] += part * max(-maxStep, min(maxStep, due))
	}
	return worst
}

// cross moves the factors towards where the number of threads goes up as often as it goes down. A factor per
// thread that is the same for all is left to the odds.
func (c *closure) cross(low, high int, part float64) {
	due := make([]float64, len(c.phi)) // of Φ(k + 1)/Φ(k)
	mean, total := 0.0, 0.0
	for k := low; k < high; k++ {
		up, down := 0.0, 0.0
		for l := range c.odds {
			n := float64(c.tree.leaves[l].tokens)
			if c.away[l] > 0 {
				up += n * (1 - c.given[l][k]) * c.rest.speed(l, c.rest.threads-k) / c.away[l]
				down += n * c.given[l][k+1] * c.share[l][k+1] / c.burst[l]
			}
		}
		if up == 0 || down == 0 {
			continue // all that could change is certain
		}
		due[k] = math.Log(c.number[k] * up / (c.number[k+1] * down))
		mean += c.number[k] * due[k]
		total += c.number[k]
	}
	shift := 0.0
	for k := low; k < len(c.phi)-1; k++ {
		if k < high {
			shift += part * (due[k] - mean/max(total, negligible))
		}
		c.phi[k+1] += shift
	}
}

// anchor moves a common factor of all threads between the odds and Φ, which changes nothing, so that the odds are close to those of
// presence at the processor: probabilities then stay within range.
func (c *closure) anchor() {
	shift, threads := 0.0, 0.0
	for l, odds := range c.odds {
		if n := float64(c.tree.leaves[l].tokens); !math.IsInf(odds, 0) {
			present := max(negligible, min(1-negligible, c.present[l]))
			shift += n * (math.Log(present/(1-present)) - odds)
			threads += n
		}
	}
	if threads == 0 {
		return
	}
	shift /= threads
	for l := range c.odds {
		c.odds[l] += shift
	}
	for k := c.certain; k < len(c.phi); k++ {
		c.phi[k] -= shift * float64(k-c.certain)
	}
}

// stretches returns those of the leaves' time at the processor.
func (c *closure) stretches() []float64 {
	s := make([]float64, len(c.rate))
	for l, rate := range c.rate {
		s[l] = max(1, 1/rate)
	}
	return s
}

// returns holds, for each leaf and number of threads that are away, how often one of the leaf's is back there.
func (c *closure) returns() [][]float64 {
	all := make([][]float64, len(c.given))
	for l := range all {
		all[l] = make([]float64, c.rest.threads+1)
		for k, p := range c.number {
			away := c.rest.threads - k
			all[l][away] = p * (1 - c.given[l][k]) * c.rest.speed(l, away)
		}
	}
	return all
}
