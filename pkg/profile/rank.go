package profile

import (
	"cmp"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// matcher is a selector and its rank among others. See the package comment for
// the rule.
type matcher struct {
	selector     labels.Selector
	learned      bool // its vector is only observed
	requirements int
	created      metav1.Time
	name         string

	key   label // all that matches has this label, if keyed
	keyed bool
}

// newMatcher compiles a selector, or says what is wrong with it, in an order
// that is the same each time.
func newMatcher(meta *metav1.ObjectMeta, selector *metav1.LabelSelector) (matcher, field.ErrorList) {
	path := field.NewPath("spec", "selector")
	if selector == nil {
		return matcher{}, field.ErrorList{field.Required(path, "say which labels to match; {} matches all")}
	}
	errs := validation.ValidateLabelSelector(selector, validation.LabelSelectorValidationOptions{}, path)
	if len(errs) > 0 {
		slices.SortFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
		return matcher{}, errs
	}
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil { // never of a valid selector
		return matcher{}, field.ErrorList{field.InternalError(path, err)}
	}
	requirements, _ := compiled.Requirements()
	m := matcher{selector: compiled, requirements: len(requirements), created: meta.CreationTimestamp, name: meta.Name}
	m.key, m.keyed = keyOf(compiled)
	return m, nil
}

// compare orders matchers by who wins: negative if m does.
func (m *matcher) compare(other *matcher) int {
	if m.learned != other.learned {
		if m.learned {
			return 1
		}
		return -1
	}
	if d := cmp.Compare(other.requirements, m.requirements); d != 0 {
		return d
	}
	if d := m.created.Compare(other.created.Time); d != 0 {
		return d
	}
	return cmp.Compare(m.name, other.name)
}

// keyOf returns a label that everything that matches carries, so that selectors
// can be found by it. ok is false where there is none.
func keyOf(selector labels.Selector) (l label, ok bool) {
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if value, found := selector.RequiresExactMatch(r.Key()); found {
			return label{r.Key(), value}, true
		}
	}
	return label{}, false
}

// label is one label of an object.
type label struct{ key, value string }

// Ranked is a profile in use: a [Workload] or a [NodeClass].
type Ranked interface{ rank() *matcher }

// Ranking finds which profile an object follows, among those of one namespace
// or among those of all nodes. It is immutable once made.
type Ranking[T Ranked] struct {
	byLabel sharded[label, []T] // best first
	others  []T                 // those without a label to find them by, best first
	size    int
}

// NewRanking returns a ranking of the profiles, given in any order.
func NewRanking[T Ranked](items []T) *Ranking[T] { return (&Ranking[T]{}).with(items, nil) }

// with returns the ranking that has some items more, and others, which it has, no
// longer. It takes time in their number and in that of the items that have a label in
// common with them, and little in that of all items.
func (r *Ranking[T]) with(added, removed []T) *Ranking[T] {
	byLabel := map[label]*change[T]{}
	var others change[T]
	changeOf := func(item T) *change[T] {
		m := item.rank()
		if !m.keyed {
			return &others
		}
		if byLabel[m.key] == nil {
			byLabel[m.key] = &change[T]{}
		}
		return byLabel[m.key]
	}
	for _, item := range added {
		c := changeOf(item)
		c.added = append(c.added, item)
	}
	for _, item := range removed {
		c := changeOf(item)
		c.removed = append(c.removed, item)
	}
	lists := r.byLabel.edit()
	for key, c := range byLabel {
		if list := c.apply(r.byLabel.get(key)); len(list) > 0 {
			lists.set(key, list)
		} else {
			lists.remove(key)
		}
	}
	return &Ranking[T]{byLabel: lists.done(), others: others.apply(r.others), size: r.size + len(added) - len(removed)}
}

// change is what becomes of a list of items.
type change[T Ranked] struct{ added, removed []T }

// apply returns what becomes of a list, best first as the list is.
func (c *change[T]) apply(list []T) []T {
	if len(c.added)+len(c.removed) == 0 {
		return list
	}
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

// compareRanks orders items by who wins: negative if a does.
func compareRanks[T Ranked](a, b T) int { return a.rank().compare(b.rank()) }

// Winner returns the item that an object with these labels follows. It takes
// time in the number of labels and of selectors that share one with the object,
// not in that of all selectors.
func (r *Ranking[T]) Winner(set labels.Set) (best T, ok bool) {
	r.each(set, func(item T) bool {
		if !ok || item.rank().compare(best.rank()) < 0 {
			best, ok = item, true
		}
		return false // the rest of this list ranks lower
	})
	return best, ok
}

// Matches returns every item that matches, the winner first.
func (r *Ranking[T]) Matches(set labels.Set) []T {
	var all []T
	r.each(set, func(item T) bool {
		all = append(all, item)
		return true
	})
	slices.SortFunc(all, compareRanks)
	return all
}

// each visits the matching items, list by list, best first in each list, going
// on within a list while visit returns true.
func (r *Ranking[T]) each(set labels.Set, visit func(T) bool) {
	if r.byLabel.size > 0 {
		for key, value := range set {
			visitList(r.byLabel.get(label{key, value}), set, visit)
		}
	}
	visitList(r.others, set, visit)
}

func visitList[T Ranked](items []T, set labels.Set, visit func(T) bool) {
	for _, item := range items {
		if item.rank().selector.Matches(set) && !visit(item) {
			return
		}
	}
}

// all returns the items, in any order.
func (r *Ranking[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, items := range r.byLabel.all() {
			for _, item := range items {
				if !yield(item) {
					return
				}
			}
		}
		for _, item := range r.others {
			if !yield(item) {
				return
			}
		}
	}
}
