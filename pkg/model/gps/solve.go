package gps

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/queueing"
)

// ErrUnsettled is wrapped by the error of an iteration that did not end.
var ErrUnsettled = errors.New("the iteration did not settle")

// ErrTooLarge is wrapped by the error of a network that has too many states for [Exact].
var ErrTooLarge = errors.New("the network is too large")

// DefaultStates is up to how many states of the processor [Solve] uses a Markov chain of which threads
// are there: 12 different threads, in some 100 milliseconds.
const DefaultStates = 1 << 12

// Options are those of [Solve]. The zero value chooses well.
type Options struct {
	// States is the largest number of states of the processor for which the Markov chain of which threads
	// are there is solved; above it the distribution is approximated. Zero means [DefaultStates].
	States int
}

// Solution is how the jobs of a network fare.
type Solution struct {
	// Stretches holds, for each job, how much longer its time at each station is than its demand: at least
	// 1, and 1 at a station without a demand.
	Stretches [][]float64
	// Responses holds how long each job takes, in own times: the sum of its demands, stretched, and of its idle
	// time.
	Responses []float64
	// Chain reports whether the processor was solved as a Markov chain.
	Chain bool
}

// Solve returns how the jobs fare. Each station is solved by itself, with what the others add to a round as a
// delay, until nothing changes: the processor as the Markov chain of which threads are there, or for many
// different ones by a closure (see the package comment), the other stations by [queueing.Solve]. The result is
// exact for a processor without other stations up to the states that the options allow.
//
// The error names the first invalid value, or wraps [ErrUnsettled].
func Solve(n *Network, o Options) (*Solution, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	if o.States == 0 {
		o.States = DefaultStates
	}
	d := newDecomposition(n, o.States)
	if err := d.solve(); err != nil {
		return nil, err
	}
	return d.solution(), nil
}

// Exact returns how the jobs fare by the Markov chain of which thread is where, if it has at most that many
// states. The error names the first invalid value, or wraps [ErrTooLarge] or [ErrUnsettled].
func Exact(n *Network, states int) (*Solution, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	t := newTree(n)
	itineraries := make([]itinerary, len(t.leaves))
	for l := range t.leaves {
		itineraries[l] = itineraryOf(t.leaves[l].job)
	}
	c, err := newChain(t, n.Servers, itineraries, states)
	if err != nil {
		return nil, err
	}
	if err := c.solve(settled); err != nil {
		return nil, err
	}
	stretches := c.stretches()
	return n.solution(t, func(l, station int) float64 {
		for a, p := range itineraries[l].places {
			if p.station == station {
				return stretches[l][a]
			}
		}
		return 1
	}), nil
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

// decomposition solves the processor and the other stations in turns.
type decomposition struct {
	network     *Network
	tree        *tree
	states      int
	stretch     []float64   // of each leaf's time at the processor
	waits       [][]float64 // of each leaf at the other stations, over its demands there
	elsewhere   []float64   // of each leaf, its time at other places in a round, in own times
	probability []float64   // of the states of the chain, to start from
	closure     *closure
	chain       bool
}

func newDecomposition(n *Network, states int) *decomposition {
	t := newTree(n)
	d := &decomposition{network: n, tree: t, states: states, stretch: make([]float64, len(t.leaves)), elsewhere: make([]float64, len(t.leaves))}
	for l := range t.leaves {
		d.stretch[l] = 1
	}
	return d
}

const (
	// maxTurns bounds how often the processor and the other stations are solved, and turnTolerance is by which
	// fraction responses may still change: what [queueing.DefaultTolerance] leaves open is not more exact. After all
	// turns lastTolerance is enough.
	maxTurns      = 100
	turnTolerance = 3e-5
	// undamped is after how many turns the processor is moved half way only, as some networks go to and fro.
	undamped = 10
)

func (d *decomposition) solve() error {
	responses, change := make([]float64, len(d.tree.leaves)), 0.0
	for turn := range maxTurns {
		if err := d.solveOthers(); err != nil {
			return err
		}
		before := slices.Clone(d.stretch)
		if err := d.solveProcessor(); err != nil {
			return err
		}
		for l := range before {
			if turn >= undamped {
				d.stretch[l] = (before[l] + d.stretch[l]) / 2
			}
		}
		change = 0
		for l := range responses {
			r := d.tree.leaves[l].job.demand(0)*d.stretch[l] + d.elsewhere[l]
			change = max(change, math.Abs(r-responses[l])/r)
			responses[l] = r
		}
		if change < turnTolerance || len(d.network.Servers) == 1 {
			return nil
		}
	}
	if change < lastTolerance {
		return nil
	}
	return fmt.Errorf("processor and other stations: %w after %d turns", ErrUnsettled, maxTurns)
}

// solveOthers sets the waits at the other stations, with the time at the processor as idle time.
func (d *decomposition) solveOthers() error {
	network := &queueing.Network{Servers: d.network.Servers[1:]}
	for l := range d.tree.leaves {
		leaf := &d.tree.leaves[l]
		d.elsewhere[l] = leaf.job.idle()
		class := queueing.Class{Copies: leaf.tokens, Idle: d.elsewhere[l] + leaf.job.demand(0)*d.stretch[l]}
		if len(leaf.job.Demands) > 1 {
			class.Demands = leaf.job.Demands[1:]
		}
		network.Classes = append(network.Classes, class)
	}
	if len(network.Servers) > 0 {
		solution, err := queueing.Solve(network, queueing.Options{})
		if err != nil {
			return err
		}
		d.waits = solution.Waits
	}
	for l := range d.tree.leaves {
		for i := 1; i < len(d.tree.leaves[l].job.Demands); i++ {
			d.elsewhere[l] += d.tree.leaves[l].job.Demands[i] * (1 + d.waits[l][i-1])
		}
	}
	return nil
}

// solveProcessor sets the stretches, with the time elsewhere as a delay.
func (d *decomposition) solveProcessor() error {
	rounds := make([]itinerary, len(d.tree.leaves))
	for l := range rounds {
		rounds[l] = roundOf(d.tree.leaves[l].job, d.elsewhere[l])
	}
	c, err := newChain(d.tree, d.network.Servers[:1], rounds, d.states)
	if errors.Is(err, ErrTooLarge) {
		return d.close()
	}
	if err != nil {
		return err
	}
	if d.probability != nil {
		c.probability = d.probability
	}
	if err := c.solve(nearlySettled); err != nil {
		return err
	}
	d.chain, d.probability = true, c.probability
	for l, stretches := range c.stretches() {
		if d.tree.leaves[l].job.demand(0) > 0 {
			d.stretch[l] = stretches[0]
		}
	}
	return nil
}

// close approximates the processor.
func (d *decomposition) close() error {
	if d.closure == nil {
		d.closure = newClosure(d.tree)
	}
	if err := d.closure.solve(d.elsewhere); err != nil {
		return err
	}
	copy(d.stretch, d.closure.stretches())
	return nil
}

func (d *decomposition) solution() *Solution {
	s := d.network.solution(d.tree, func(l, station int) float64 {
		if station == 0 {
			return d.stretch[l]
		}
		return 1 + d.waits[l][station-1]
	})
	s.Chain = d.chain
	return s
}
