package fairshare

import (
	"context"
	"math/bits"
)

// family holds, for each set of the members of a group, how likely those are the first
// in order, and sums over them. A set is a bit mask.
type family struct {
	first    []float64
	share    []float64
	load     []float64
	residual []float64
}

// newFamily computes the probabilities of sets from those of smaller ones: a set is
// first if one of its members comes after the others of it.
func (t *Tree) newFamily(group int) *family {
	children := t.nodes[group].children
	size := 1 << len(children)
	f := &family{make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)}
	for set := 1; set < size; set++ {
		rest := set & (set - 1)
		n := &t.nodes[children[bits.TrailingZeros(uint(set))]]
		f.share[set] = f.share[rest] + n.Share
		f.load[set] = f.load[rest] + n.load
		f.residual[set] = f.residual[rest] + n.residual
	}
	f.first[0] = 1
	all := size - 1
	for set := 1; set < size; set++ {
		for left := set; left != 0; left &= left - 1 {
			one := left & -left
			before := set &^ one
			f.first[set] += f.first[before] * (f.share[one] / f.share[all&^before])
		}
	}
	return f
}

// subsets sums over the sets that may be ahead of each member of each group, within each
// combination of those that may be ahead of the group.
func subsets(ctx context.Context, m *model, _ Options) (*sums, error) {
	t := m.tree
	s := newSums(t.Len())
	families := make([]*family, len(t.nodes))
	for i := range t.nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t.nodes[i].leaf < 0 {
			families[i] = t.newFamily(i)
		}
	}
	var descend func(group int, probability, free, ahead float64) error
	descend = func(group int, probability, free, ahead float64) error {
		f, children := families[group], t.nodes[group].children
		all := len(f.first) - 1
		for set := range all { // at least one workload is not in it
			if s.evaluations%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			s.evaluations++
			within := probability * f.first[set]
			rest := all &^ set
			for left := rest; left != 0; left &= left - 1 {
				one := left & -left
				k := children[bits.TrailingZeros(uint(left))]
				p := within * (f.share[one] / f.share[rest])
				below, above := free+f.load[rest&^one], ahead+f.residual[set]
				if n := &t.nodes[k]; n.leaf >= 0 {
					factor, stretch := m.outcome(n, below, above)
					s.add(n.leaf, p, factor, stretch)
				} else if err := descend(k, p, below, above); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := descend(0, 1, m.slack, 0); err != nil {
		return nil, err
	}
	s.roundOff(m)
	return s, nil
}
