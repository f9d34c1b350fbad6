package profile

import (
	"cmp"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// Ranked is a profile in use: a [Workload] or a [NodeClass].
type Ranked interface{ rank() *matcher }

// Ranking finds which profile an object follows, among those of one namespace
// or among those of all nodes. It is immutable once made.
//
// It finds profiles by the labels that their selectors require exactly. Selectors that
// require the same keys are one shape, and those of them that require the same values
// one family: of each shape an object is compared with the family that has its values
// (tuple space search, Srinivasan, Suri and Varghese, SIGCOMM 1999). See [MaxCompared]
// for how many selectors that may be.
type Ranking[T Ranked] struct {
	families sharded[family, []T] // best first
	shapes   []shape              // by name
	size     int
	compared int // with how many selectors an object is compared at most

	inUse   *Ranking[T] // nil: all are
	ignored []T
}

// NewRanking returns a ranking of the profiles, given in any order.
func NewRanking[T Ranked](items []T) *Ranking[T] { return (&Ranking[T]{}).with(items, nil) }

// with returns the ranking that has some items more, and others, which it has, no
// longer. It takes time in their number, in that of the items of their families and
// in that of the shapes, and little in that of all items, as long as all are in use.
func (r *Ranking[T]) with(added, removed []T) *Ranking[T] {
	changes := map[family]*change[T]{}
	changeOf := func(item T) *change[T] {
		m := item.rank()
		if changes[m.family] == nil {
			changes[m.family] = &change[T]{of: m}
		}
		return changes[m.family]
	}
	for _, item := range added {
		c := changeOf(item)
		c.added = append(c.added, item)
	}
	for _, item := range removed {
		c := changeOf(item)
		c.removed = append(c.removed, item)
	}
	families, shapes := r.families.edit(), editShapes(r.shapes)
	for f, c := range changes {
		before := r.families.get(f)
		after := c.apply(before)
		if len(after) > 0 {
			families.set(f, after)
		} else {
			families.remove(f)
		}
		shapes.resize(c.of, len(before), len(after))
	}
	next := &Ranking[T]{families: families.done(), shapes: shapes.done(), size: r.size + len(added) - len(removed)}
	for i := range next.shapes {
		next.compared += next.shapes[i].widest
	}
	next.limit()
	return next
}

// change is the change of a family.
type change[T Ranked] struct {
	of             *matcher // some member
	added, removed []T
}

// apply returns the changed list, ordered best first like the list.
func (c *change[T]) apply(list []T) []T {
	removed := make(map[*matcher]bool, len(c.removed))
	for _, item := range c.removed {
		removed[item.rank()] = true
	}
	slices.SortFunc(c.added, compareRanks)
	next := make([]T, 0, len(list)+len(c.added)-len(c.removed))
	added := c.added
	for _, item := range list {
		if removed[item.rank()] {
			continue
		}
		for len(added) > 0 && compareRanks(added[0], item) < 0 {
			next, added = append(next, added[0]), added[1:]
		}
		next = append(next, item)
	}
	return append(next, added...)
}

// compareRanks orders items by rank: negative if a wins.
func compareRanks[T Ranked](a, b T) int { return a.rank().compare(b.rank()) }

// Winner returns the item that an object with these labels follows. It takes
// time in the number of shapes and of selectors of the object's families, not in
// that of all selectors.
func (r *Ranking[T]) Winner(set labels.Set) (best T, ok bool) {
	r.each(set, func(item T) bool {
		if !ok || item.rank().compare(best.rank()) < 0 {
			best, ok = item, true
		}
		return false // the rest of this list ranks lower
	})
	return best, ok
}

// Matches returns every item in use that matches, the winner first.
func (r *Ranking[T]) Matches(set labels.Set) []T {
	var all []T
	r.each(set, func(item T) bool {
		all = append(all, item)
		return true
	})
	slices.SortFunc(all, compareRanks)
	return all
}

// each visits the matching items, family by family, best first in each, going
// on within a family while visit returns true.
func (r *Ranking[T]) each(set labels.Set, visit func(T) bool) {
	r = cmp.Or(r.inUse, r)
	for i := range r.shapes {
		if f, has := r.shapes[i].familyOf(set); has {
			visitList(r.families.get(f), set, visit)
		}
	}
}

func visitList[T Ranked](items []T, set labels.Set, visit func(T) bool) {
	for _, item := range items {
		if item.rank().selector.Matches(set) && !visit(item) {
			return
		}
	}
}

// all returns the items, in use or not, in any order.
func (r *Ranking[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, items := range r.families.all() {
			for _, item := range items {
				if !yield(item) {
					return
				}
			}
		}
	}
}

// used returns the items that objects can follow, in any order.
func (r *Ranking[T]) used() iter.Seq[T] { return cmp.Or(r.inUse, r).all() }

// Ignored returns the items that no object follows, because there are too many: see
// [MaxCompared]. The list must not be changed.
func (r *Ranking[T]) Ignored() []T { return r.ignored }
