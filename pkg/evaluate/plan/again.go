package plan

import (
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"loadline.dev/loadline/pkg/model/loading"
)

// again returns a candidate's change in another state, nil where it cannot be made there: the pod is elsewhere, or there is no room for
// what it requests.
func (s *state) again(c *candidate) *candidate {
	h := s.host(c.change.Node)
	i := h.index(c.who)
	if i < 0 {
		return nil
	}
	if c.change.Action == MovePod {
		other := move(h, i, h.without(i), s.host(c.change.To))
		other.from(c)
		return other
	}
	other := resize(c.change, h, i)
	if other == nil {
		return nil
	}
	other.after[0].members[i].less += c.less
	other.less = c.less
	other.from(c)
	if free := other.after[0].free; free < 0 && free < h.free {
		return nil
	}
	return other
}

// from takes what does not depend on the state from a candidate of the same change.
func (c *candidate) from(other *candidate) {
	c.notes, c.lost, c.notInPlace, c.enables = other.notes, other.lost, other.notInPlace, other.enables
}

// replicas is how many loads are drawn to see by how much wins vary with them.
const replicas = 8

// spreads returns the standard deviations of the wins of some steps from a state that come from the load: how much pods use varies from
// one interval to the next, and the steps are to win in the next ones.
func (s *state) spreads(steps []*candidate) ([]float64, error) {
	wins := make([][]float64, replicas)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for r := range replicas {
		group.Go(func() (err error) {
			wins[r], err = s.winsBy(steps, rand.New(rand.NewPCG(uint64(r), 0)))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	spreads := make([]float64, len(steps))
	for i := range steps {
		var some []float64
		for r := range wins {
			some = append(some, wins[r][i])
		}
		spreads[i] = deviation(some)
	}
	return spreads, nil
}

// winsBy returns the wins of some steps where the loads of pods are other ones that are drawn.
func (s *state) winsBy(steps []*candidate, rng *rand.Rand) ([]float64, error) {
	other, wins := newState(map[string]*host{}, nil, nil), make([]float64, len(steps))
	for i, c := range steps {
		for _, h := range c.before {
			if name := h.node.Name; other.host(name) == nil {
				other.unchanged[name] = s.host(name).drawn(rng)
			}
		}
		again := other.again(c)
		again.rough = true
		for _, h := range slices.Concat(again.before, again.after) {
			if err := h.estimate(); err != nil {
				return nil, err
			}
		}
		again.sum()
		wins[i] = again.win
		other.apply(again)
	}
	return wins, nil
}

// drawn returns the host with other loads of its pods.
func (h *host) drawn(rng *rand.Rand) *host {
	model := *h.model
	model.Pods = slices.Clone(h.model.Pods)
	for i := range h.members {
		by := h.members[i].pod.Variation() * rng.NormFloat64()
		if by == 0 {
			continue
		}
		vector := slices.Clone(model.Pods[i].AtDevices())
		vector[0] = scaled(vector[0], 1+by)
		model.Pods[i] = model.Pods[i].WithVector(vector)
	}
	return &host{node: h.node, model: &model, members: h.members, free: h.free, busy: h.busy, idle: h.idle}
}

// scaled returns a demand times a factor, as far as it can be.
func scaled(d loading.Demand, factor float64) loading.Demand {
	d.Loading = max(0, min(1, d.Loading*factor))
	d.Pressure = d.Loading
	return d
}
