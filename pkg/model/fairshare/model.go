package fairshare

import "fmt"

// model is a tree and its processors: how long jobs take when the order is given.
type model struct {
	tree     *Tree
	capacity float64 // the number of processors
	slack    float64 // the part of it that stays idle
	queue    *erlang // several processors; nil is one
	equal    bool    // every workload with jobs has the same residual work per utilization
	ratio    float64 // which is this
}

func newModel(t *Tree, servers int) (*model, error) {
	m := &model{tree: t, capacity: float64(servers), equal: true}
	m.slack = m.capacity - t.Utilization()
	const rounding = 1e-12
	if !(m.slack > rounding*m.capacity) {
		return nil, &ValueError{t.nodes[0].Name, "utilization", t.Utilization(), fmt.Sprintf("in total is not below %d, the number of processors", servers)}
	}
	if servers > 1 {
		if err := checkAlike(t); err != nil {
			return nil, err
		}
		m.queue = &erlang{servers}
	}
	for w := range t.leaves {
		leaf := t.leafAt(w)
		if leaf.load == 0 {
			continue
		}
		ratio := leaf.second / (2 * leaf.service)
		m.equal = m.equal && (m.ratio == 0 || m.ratio == ratio)
		m.ratio = ratio
	}
	return m, nil
}

// checkAlike returns nil if the service times of all workloads are exponential with
// the same mean.
func checkAlike(t *Tree) error {
	for w := range t.leaves {
		leaf, first := t.leafAt(w), t.leafAt(0)
		const rule = "; with several processors only equal, exponential service times have an exact solution"
		if leaf.service != first.service {
			return &ValueError{leaf.path, "service", leaf.service, fmt.Sprintf("is not %v, as that of %s", first.service, first.path) + rule}
		}
		if leaf.SecondMoment != 0 && leaf.second != 2*leaf.service*leaf.service {
			return &ValueError{leaf.path, "secondMoment", leaf.second, "is not twice the square of the mean" + rule}
		}
	}
	return nil
}

// outcome returns the response time of a workload relative to its service time, and the
// stretch of its service, in one order: free is the capacity that the workload and those
// ahead of it leave, and ahead the residual work that those ahead bring.
//
// Free capacity is added up from below, never subtracted, so that it keeps its
// precision near saturation.
func (m *model) outcome(leaf *node, free, ahead float64) (factor, stretch float64) {
	if m.queue != nil {
		return m.queue.rise(m.capacity-free-leaf.load, leaf.load), 0
	}
	stretch = 1 / (free + leaf.load)
	return stretch * (1 + (ahead+leaf.residual)/(leaf.service*free)), stretch
}
