package fairshare

import (
	"context"
	"slices"
)

// checkEvery is how many elementary steps pass between two looks at the context.
const checkEvery = 1 << 14

// permute calls visit with every order of the members of a group and its probability:
// the next is drawn by shares from those that are left. It stops when visit returns an
// error. The order is only valid during the call.
func (t *Tree) permute(group int, visit func(order []int, probability float64) error) error {
	order := slices.Clone(t.nodes[group].children)
	var place func(at int, probability float64) error
	place = func(at int, probability float64) error {
		if at == len(order) {
			return visit(order, probability)
		}
		left := 0.0
		for _, k := range order[at:] {
			left += t.nodes[k].Share
		}
		for i := at; i < len(order); i++ {
			order[at], order[i] = order[i], order[at]
			if err := place(at+1, probability*(t.nodes[order[at]].Share/left)); err != nil {
				return err
			}
			order[at], order[i] = order[i], order[at]
		}
		return nil
	}
	return place(0, 1)
}

// permutations sums over all orders of the whole tree.
func permutations(ctx context.Context, m *model, _ Options) (*sums, error) {
	t := m.tree
	s := newSums(t.Len())
	orders := make([][]int, len(t.nodes)) // of the members of each group
	leaves := make([]int, 0, t.Len())     // the workloads in order
	var flatten func(i int)
	flatten = func(i int) {
		if t.nodes[i].leaf >= 0 {
			leaves = append(leaves, i)
			return
		}
		for _, k := range orders[i] {
			flatten(k)
		}
	}
	var choose func(group int, probability float64) error
	choose = func(group int, probability float64) error {
		for group < len(t.nodes) && t.nodes[group].leaf >= 0 {
			group++
		}
		if group == len(t.nodes) {
			if s.evaluations%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			s.evaluations++
			leaves = leaves[:0]
			flatten(0)
			m.inOrder(leaves, m.slack, 0, func(leaf *node, factor, stretch float64) {
				s.add(leaf.leaf, probability, factor, stretch)
			})
			return nil
		}
		return t.permute(group, func(order []int, p float64) error {
			orders[group] = order
			return choose(group+1, probability*p)
		})
	}
	if err := choose(0, 1); err != nil {
		return nil, err
	}
	s.roundOff(m)
	return s, nil
}

// inOrder calls visit with the outcome for each workload among siblings in order of
// priority; groups are aggregated. Free is the capacity that all of them and those ahead
// of them leave, ahead the residual work of those ahead of them.
func (m *model) inOrder(order []int, free, ahead float64, visit func(leaf *node, factor, stretch float64)) {
	for _, k := range order {
		ahead += m.tree.nodes[k].residual
	}
	for _, k := range slices.Backward(order) {
		n := &m.tree.nodes[k]
		ahead -= n.residual
		if n.leaf >= 0 {
			factor, stretch := m.outcome(n, free, max(ahead, 0))
			visit(n, factor, stretch)
		}
		free += n.load
	}
}

// hierarchical sums, for each group with workloads, over the orders of its members and
// of those of the groups around it: the rest is aggregated.
func hierarchical(ctx context.Context, m *model, _ Options) (*sums, error) {
	t := m.tree
	s := newSums(t.Len())
	for group := range t.nodes {
		if t.nodes[group].leaf >= 0 || !t.hasWorkload(group) {
			continue
		}
		path := t.pathTo(group)
		var descend func(level int, probability, free, ahead float64) error
		descend = func(level int, probability, free, ahead float64) error {
			return t.permute(path[level], func(order []int, p float64) error {
				if level+1 < len(path) {
					free, ahead := m.around(order, path[level+1], free, ahead)
					return descend(level+1, probability*p, free, ahead)
				}
				if s.evaluations%checkEvery == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				s.evaluations++
				m.inOrder(order, free, ahead, func(leaf *node, factor, stretch float64) {
					s.add(leaf.leaf, probability*p, factor, stretch)
				})
				return nil
			})
		}
		if err := descend(0, 1, m.slack, 0); err != nil {
			return nil, err
		}
	}
	s.roundOff(m)
	return s, nil
}

// pathTo returns the groups from the root down to one.
func (t *Tree) pathTo(group int) []int {
	path := make([]int, t.nodes[group].depth+1)
	for i := len(path) - 1; i >= 0; i-- {
		path[i] = group
		group = t.nodes[group].parent
	}
	return path
}

// around returns the free capacity and the residual work ahead for the members of one
// of the siblings in order.
func (m *model) around(order []int, member int, free, ahead float64) (freeWithin, aheadWithin float64) {
	at := slices.Index(order, member)
	for _, k := range order[:at] {
		ahead += m.tree.nodes[k].residual
	}
	for _, k := range slices.Backward(order[at+1:]) {
		free += m.tree.nodes[k].load
	}
	return free, ahead
}
