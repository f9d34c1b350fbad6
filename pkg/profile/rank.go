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
	byLabel map[label][]T // best first
	others  []T           // those without a label to find them by, best first
}

// NewRanking returns a ranking of the profiles, given in any order.
func NewRanking[T Ranked](items []T) *Ranking[T] {
	r := &Ranking[T]{byLabel: map[label][]T{}}
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b T) int { return a.rank().compare(b.rank()) })
	for _, item := range items {
		if m := item.rank(); m.keyed {
			r.byLabel[m.key] = append(r.byLabel[m.key], item)
		} else {
			r.others = append(r.others, item)
		}
	}
	return r
}

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
	slices.SortFunc(all, func(a, b T) int { return a.rank().compare(b.rank()) })
	return all
}

// each visits the matching items, list by list, best first in each list, going
// on within a list while visit returns true.
func (r *Ranking[T]) each(set labels.Set, visit func(T) bool) {
	if len(r.byLabel) > 0 {
		for key, value := range set {
			visitList(r.byLabel[label{key, value}], set, visit)
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
		for _, items := range r.byLabel {
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

// size returns the number of items.
func (r *Ranking[T]) size() int {
	n := len(r.others)
	for _, items := range r.byLabel {
		n += len(items)
	}
	return n
}
