package gps

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/queueing"
)

// ErrUnsettled is wrapped by the error of an iteration that did not end.
var ErrUnsettled = errors.New("the iteration did not settle")

// ErrTooLarge is wrapped by the error of a network that has too many states for [Exact].
var ErrTooLarge = errors.New("the network is too large")

// DefaultStates is the largest number of states of the processor for which [Solve] uses a Markov chain of the threads present: 12
// different threads, in some tens of milliseconds.
const DefaultStates = 1 << 12

// Options are those of [Solve]. The zero value chooses well.
type Options struct {
	// States is the largest number of states of the processor for which the Markov chain of the threads present is solved; above it
	// the distribution is approximated. Zero means [DefaultStates].
	States int
}

// Solution holds the responses of the jobs of a network.
type Solution struct {
	// Stretches holds, for each job, how much longer its time at each station is than its demand: at least
	// 1, and 1 at a station without a demand.
	Stretches [][]float64
	// Responses holds how long each job takes, in own times: the sum of its demands, stretched, and of its idle
	// time.
	Responses []float64
	// Chain reports whether the processor was solved as a Markov chain, by itself or with the other stations.
	Chain bool
}

// Solve returns the responses of the jobs. Where other stations matter and there are few states, it solves the Markov chain of the
// threads' places. Else it solves the processor by itself, as the Markov chain of the threads present beside all other places as
// one: see flow. With many different threads it solves the processor by a closure (see the package comment), and the other threads
// are idle or wait at other stations, the longer the more of them there are: see rest. The result for equal shares is corrected to
// that of [queueing.Solve], and the correction applies to unequal ones, too. Where many jobs are different, but nearly alike, the
// chain of the same number of equal jobs corrects the closure.
//
// The result is exact for few states of all stations, for a processor without other stations up to the states that the options
// allow, and as exact as that of package queueing for equal shares without limits.
//
// The error names the first invalid value, or wraps [ErrUnsettled].
func Solve(n *Network, o Options) (*Solution, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	if o.States == 0 {
		o.States = DefaultStates
	}
	if _, small := n.small(); small {
		return solveChain(n, smallStates, func(c *chain) error {
			c.eliminate()
			return nil
		})
	}
	s, err := newDecomposition(n, o.States).solve()
	if err != nil || s.Chain {
		return s, err
	}
	return blend(n, o, s)
}

// smallStates is up to how many states of all stations [Solve] uses the Markov chain of them, which takes some milliseconds.
const smallStates = 256

// small returns the number of states of the chain of the threads' places, if they are few and the other stations matter: else the
// processor is solved by itself, or equal shares as a queueing network.
func (n *Network) small() (states int, small bool) {
	if len(n.Servers) == 1 || newTree(n).alike() {
		return 0, false
	}
	states = 1
	for _, leaf := range leavesOf(n) {
		if states *= compositionCount(leaf.tokens, len(itineraryOf(leaf.job).places)); states > smallStates {
			return 0, false
		}
	}
	return states, true
}

// States returns how many states the chain has that [Solve] solves of a valid network, 0 for none, and whether it solves closures.
func (n *Network) States(o Options) (states int, closures bool) {
	if states, small := n.small(); small {
		return states, false
	}
	most := cmp.Or(o.States, DefaultStates)
	if states = processorStates(n, most); states <= most {
		return states, false
	}
	merged, _ := n.merged(most)
	if merged == nil {
		return 0, true
	}
	return processorStates(merged, most), true
}

// processorStates returns how many states the processor has, or a number above the most.
func processorStates(n *Network, most int) int {
	states := 1
	for _, leaf := range leavesOf(n) {
		if states *= leaf.tokens + 1; states > most {
			break
		}
	}
	return states
}

// Exact returns the responses of the jobs by the Markov chain of the threads' places, if it has at most that number of states. The
// error names the first invalid value, or wraps [ErrTooLarge] or [ErrUnsettled].
func Exact(n *Network, states int) (*Solution, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	return solveChain(n, states, func(c *chain) error { return c.solve(settled) })
}

// solveChain solves a valid network as the chain of the threads' places.
func solveChain(n *Network, states int, solve func(*chain) error) (*Solution, error) {
	t := newTree(n)
	itineraries := make([]itinerary, len(t.leaves))
	for l := range t.leaves {
		itineraries[l] = itineraryOf(t.leaves[l].job)
	}
	c, err := newChain(t, n.Servers, nil, itineraries, states)
	if err != nil {
		return nil, err
	}
	if err := solve(c); err != nil {
		return nil, err
	}
	stretches := c.stretches()
	s := n.solution(t, func(l, station int) float64 {
		for a, p := range itineraries[l].places {
			if p.station == station {
				return stretches[l][a]
			}
		}
		return 1
	})
	s.Chain = true
	return s, nil
}

// solution returns the solution in which a leaf's time at a station is stretched by that.
func (n *Network) solution(t *tree, stretch func(leaf, station int) float64) *Solution {
	s := &Solution{Stretches: make([][]float64, len(n.Jobs)), Responses: make([]float64, len(n.Jobs))}
	for l := range t.leaves {
		for _, j := range t.leaves[l].jobs {
			job := &n.Jobs[j]
			s.Stretches[j] = make([]float64, len(n.Servers))
			s.Responses[j] = job.idle()
			for i := range n.Servers {
				s.Stretches[j][i] = 1
				if d := job.demand(i); d > 0 {
					s.Stretches[j][i] = stretch(l, i)
					s.Responses[j] += d * s.Stretches[j][i]
				}
			}
		}
	}
	return s
}

// Alone returns the network of a job alone: with its groups, whose limits hold all the same.
func (n *Network) Alone(job int) *Network {
	return &Network{Servers: n.Servers, Groups: n.Groups, Jobs: n.Jobs[job : job+1]}
}

// decomposition solves the processor and the other stations.
type decomposition struct {
	network *Network
	tree    *tree
	states  int
}

func newDecomposition(n *Network, states int) *decomposition {
	return &decomposition{network: n, tree: newTree(n), states: states}
}

const (
	// maxTurns bounds how often the other stations are adjusted, and turnTolerance is by which fraction of a round
	// they may still change, which is far below the error of the solution. After all turns lastTolerance is enough.
	maxTurns      = 200
	turnTolerance = 3e-4
	// fullTurns is the number of turns after which they are moved part of the way only, half as far after each further such number:
	// some networks oscillate.
	fullTurns = 10
)

func (d *decomposition) solve() (*Solution, error) {
	rest := newRest(d.network, d.tree)
	if len(d.network.Servers) == 1 {
		p, err := d.processor(d.tree, rest, nil)
		if err != nil {
			return nil, err
		}
		return d.solution(p, nil, func(l int) float64 { return p.stretches[l] }), nil
	}
	equal, err := queueing.Solve(d.queueing(), queueing.Options{})
	if err != nil {
		return nil, err
	}
	if d.tree.alike() {
		return d.solution(&processor{}, func(l, i int) float64 { return equal.Waits[l][i] }, func(l int) float64 { return 1 + equal.Waits[l][0] }), nil
	}
	if s, err := d.beside(rest, equal); err == nil || !errors.Is(err, ErrTooLarge) {
		return s, err
	}
	if err := rest.slowDown(d.cycles(equal)); err != nil {
		return nil, err
	}
	peers, err := d.calibrate(rest, equal)
	if err != nil {
		return nil, err
	}
	return d.weigh(rest, peers, func(l int) float64 { return (1 + equal.Waits[l][0]) / peers.stretches[l] })
}

// weigh returns the solution with weights and limits, from one with equal shares; factors correct its stretches at the processor.
// The other stations are visited more or less often than with equal shares, and the waits there change.
func (d *decomposition) weigh(rest *rest, p *processor, correction func(leaf int) float64) (*Solution, error) {
	var last *Solution
	change := 0.0
	for turn := range maxTurns {
		var err error
		if p, err = d.processor(d.tree, rest, p); err != nil {
			return nil, err
		}
		s := d.solution(p, rest.waits(p.returns), func(l int) float64 { return p.stretches[l] * correction(l) })
		change = 0
		cycles := make([]float64, len(rest.cycles))
		for l := range cycles {
			before, now := rest.cycles[l], s.Responses[d.tree.leaves[l].jobs[0]]
			change = max(change, math.Abs(now-before)/now)
			cycles[l] = before + step(turn)*(now-before)
		}
		if change < turnTolerance {
			return s, nil
		}
		if err := rest.slowDown(cycles); err != nil {
			return nil, err
		}
		last = s
	}
	if change < lastTolerance {
		return last, nil
	}
	return nil, fmt.Errorf("other stations: %w after %d turns", ErrUnsettled, maxTurns)
}

// step returns which part of its way the other stations are moved in a turn.
func step(turn int) float64 { return math.Pow(0.5, float64(min(turn/fullTurns, 4))) }

// queueing returns the network with equal shares, a class for each leaf.
func (d *decomposition) queueing() *queueing.Network {
	network := &queueing.Network{Servers: d.network.Servers}
	for l := range d.tree.leaves {
		leaf := &d.tree.leaves[l]
		network.Classes = append(network.Classes, queueing.Class{Copies: leaf.tokens, Demands: leaf.job.Demands, Idle: leaf.job.idle()})
	}
	return network
}

// cycles returns how long each leaf's own time takes.
func (d *decomposition) cycles(equal *queueing.Solution) []float64 {
	cycles := make([]float64, len(d.tree.leaves))
	for l := range cycles {
		cycles[l] = 1
		for i, demand := range d.tree.leaves[l].job.Demands {
			cycles[l] += demand * equal.Waits[l][i]
		}
	}
	return cycles
}

// calibrate scales the waits of threads at the other stations until, with equal shares, they are those of the given solution; and
// returns the processor with these waits.
func (d *decomposition) calibrate(rest *rest, equal *queueing.Solution) (*processor, error) {
	peers := d.tree.peers()
	var p *processor
	change := 0.0
	for turn := range maxTurns {
		var err error
		if p, err = d.processor(peers, rest, p); err != nil {
			return nil, err
		}
		if change = rest.scaleTo(equal, p.returns, step(turn)); change < turnTolerance {
			return p, nil
		}
	}
	if change < lastTolerance {
		return p, nil
	}
	return nil, fmt.Errorf("other stations: %w after %d turns", ErrUnsettled, maxTurns)
}

// processor is a solution of the processor.
type processor struct {
	stretches   []float64   // of each leaf's time there
	returns     [][]float64 // see rest.waits
	probability []float64   // of the states, if it was solved as a chain
	closure     *closure    // if it was not
}

// processor solves the processor for a tree, starting from a solution for the same leaves, if any.
func (d *decomposition) processor(t *tree, rest *rest, like *processor) (*processor, error) {
	c, err := d.chain(t, rest, rest)
	if errors.Is(err, ErrTooLarge) {
		closure := newClosure(t, rest)
		if like != nil {
			closure.startFrom(like.closure)
		}
		if err := closure.solve(); err != nil {
			return nil, err
		}
		return &processor{stretches: closure.stretches(), returns: closure.returns(), closure: closure}, nil
	}
	if err != nil {
		return nil, err
	}
	if like != nil {
		copy(c.probability, like.probability)
	}
	if err := c.solve(nearlySettled); err != nil {
		return nil, err
	}
	return &processor{stretches: atProcessor(c), returns: c.returns(), probability: c.probability}, nil
}

// chain returns the chain of the threads of a tree that are at the processor, beside all other places as one.
func (d *decomposition) chain(t *tree, rest *rest, elsewhere elsewhere) (*chain, error) {
	rounds := make([]itinerary, len(t.leaves))
	for l := range rounds {
		rounds[l] = roundOf(t.leaves[l].job, rest.unhindered(l))
	}
	return newChain(t, d.network.Servers[:1], elsewhere, rounds, d.states)
}

// atProcessor returns how much longer than its demand the time of each leaf at the processor is.
func atProcessor(c *chain) []float64 {
	stretches := make([]float64, len(c.leaves))
	for l, byPlace := range c.stretches() {
		stretches[l] = 1
		if c.tree.leaves[l].job.demand(0) > 0 {
			stretches[l] = byPlace[0]
		}
	}
	return stretches
}

// solution returns the solution with the waits at the other stations, and the stretches at the processor.
func (d *decomposition) solution(p *processor, waits func(leaf, station int) float64, stretch func(leaf int) float64) *Solution {
	s := d.network.solution(d.tree, func(l, station int) float64 {
		if station == 0 {
			return max(1, stretch(l))
		}
		return 1 + waits(l, station)
	})
	s.Chain = p.probability != nil
	return s
}
