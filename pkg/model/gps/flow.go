package gps

import (
	"errors"
	"fmt"

	"loadline.dev/loadline/pkg/model/queueing"
)

// flow is the other stations and idle time as one place, for the chain of the processor: the waits of the threads of each leaf
// there, by their numbers, are their exact solution.
type flow struct {
	*queueing.FlowEquivalent
	rest *rest
}

// flowSteps bounds the cost of the solution: some milliseconds.
const flowSteps = queueing.DefaultExactSteps

// newFlow returns it, or an error that wraps ErrTooLarge.
func newFlow(r *rest) (*flow, error) {
	network := &queueing.Network{Servers: r.servers}
	for l, n := range r.tokens {
		class := queueing.Class{Copies: n, Demands: r.demands[l], Idle: r.idle[l]}
		if r.unhindered(l) <= roundings {
			class = queueing.Class{Copies: n, Idle: 1} // always at the processor
		}
		network.Classes = append(network.Classes, class)
	}
	equivalent, err := queueing.NewFlowEquivalent(network, flowSteps)
	if errors.Is(err, queueing.ErrTooLarge) {
		return nil, fmt.Errorf("other stations: %w", ErrTooLarge)
	}
	if err != nil {
		return nil, err
	}
	return &flow{equivalent, r}, nil
}

// pass implements [elsewhere].
func (f *flow) pass(l int, there []int) float64 {
	return f.Rate(l, there[l], f.Population(there)) * f.rest.unhindered(l)
}

// beside solves the processor as a chain beside the other stations with each population. That is exact for equal shares, and for
// others as far as the use of the other stations depends on the population only. Where the given solution of equal shares is an
// approximation, the chain's result for them corrects it. The error wraps ErrTooLarge if it has too many states.
func (d *decomposition) beside(r *rest, equal *queueing.Solution) (*Solution, error) {
	states := 1
	for l, n := range r.tokens {
		round := roundOf(d.tree.leaves[l].job, r.unhindered(l))
		if states *= compositionCount(n, len(round.places)); states > d.states {
			return nil, fmt.Errorf("processor: %w", ErrTooLarge)
		}
	}
	f, err := newFlow(r)
	if err != nil {
		return nil, err
	}
	weighted, err := d.among(d.tree, f)
	if err != nil {
		return nil, err
	}
	if equal.Solver != queueing.Exact {
		peers, err := d.among(d.tree.peers(), f)
		if err != nil {
			return nil, err
		}
		for l, stretches := range weighted {
			for i := range stretches {
				stretches[i] = max(1, stretches[i]*(1+equal.Waits[l][i])/peers[l][i])
			}
		}
	}
	s := d.network.solution(d.tree, func(l, station int) float64 { return weighted[l][station] })
	s.Chain = true
	return s, nil
}

// among returns the ratio of the time of each leaf of a tree at each station to its demand.
func (d *decomposition) among(t *tree, f *flow) ([][]float64, error) {
	c, err := d.chain(t, f.rest, f)
	if err != nil {
		return nil, err
	}
	if err := c.solve(nearlySettled); err != nil {
		return nil, err
	}
	probability := make([]float64, f.Populations())
	c.eachState(func(s int, away []int, _ []float64) { probability[f.Population(away)] += c.probability[s] })
	stretches := make([][]float64, len(t.leaves))
	waits := f.Waits(probability)
	for l, here := range atProcessor(c) {
		stretches[l] = []float64{here}
		for _, wait := range waits[l] {
			stretches[l] = append(stretches[l], 1+wait)
		}
	}
	return stretches, nil
}
