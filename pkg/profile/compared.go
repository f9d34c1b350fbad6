package profile

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// MaxCompared is the largest number of selectors with which an object is compared: a pod with those
// of its namespace, a node with those of the cluster. Profiles are taken into use in the order of
// their age, declared ones before those that are only observed; those with which an object could be
// compared with more selectors are ignored. A new profile therefore puts none out of use that is in
// use, except a declared one that follows observed ones.
//
// Profiles that each have a label of their own are never ignored, whatever their number,
// as long as they require labels of the same keys: an object is compared with one of them.
const MaxCompared = 100

// shape is the set of keys of which selectors require one value each.
type shape struct {
	name   string // the keys as one text
	keys   []string
	sizes  map[int]int // how many families there are of each size
	widest int         // the largest of the sizes
}

// familyOf returns the family of an object among the selectors of the shape. An object
// that lacks one of the labels has none.
func (s *shape) familyOf(set labels.Set) (f family, ok bool) {
	for _, key := range s.keys {
		value, has := set[key]
		if !has {
			return 0, false
		}
		f = f.with(key, value)
	}
	return f, true
}

// shapesEdit is a list of shapes that may be changed until it is done.
type shapesEdit struct {
	shapes []shape
	own    map[string]bool // by name: the sizes are not shared with another list
}

func editShapes(shapes []shape) *shapesEdit {
	return &shapesEdit{slices.Clone(shapes), map[string]bool{}}
}

// resize says that a family, to which a selector belongs, has another size.
func (e *shapesEdit) resize(of *matcher, before, after int) {
	i, found := slices.BinarySearchFunc(e.shapes, of.shape, func(s shape, name string) int { return strings.Compare(s.name, name) })
	if !found {
		e.shapes = slices.Insert(e.shapes, i, shape{name: of.shape, keys: of.exact, sizes: map[int]int{}})
	} else if !e.own[of.shape] {
		e.shapes[i].sizes = maps.Clone(e.shapes[i].sizes)
	}
	e.own[of.shape] = true
	sizes := e.shapes[i].sizes
	sizes[after]++
	if sizes[before]--; sizes[before] <= 0 {
		delete(sizes, before)
	}
	delete(sizes, 0)
}

// done returns the list, without the shapes of no family.
func (e *shapesEdit) done() []shape {
	for i := range e.shapes {
		if s := &e.shapes[i]; e.own[s.name] {
			s.widest = 0
			for size := range s.sizes {
				s.widest = max(s.widest, size)
			}
		}
	}
	return slices.DeleteFunc(e.shapes, func(s shape) bool { return s.widest == 0 })
}

// limit decides which items are in use, where an object would be compared with too many
// if all were.
func (r *Ranking[T]) limit() {
	if r.compared <= MaxCompared {
		return
	}
	items := slices.SortedFunc(r.all(), func(a, b T) int { return a.rank().compareSeniority(b.rank()) })
	compared, sizes, widest := 0, map[family]int{}, map[string]int{}
	inUse := make([]T, 0, len(items))
	for _, item := range items {
		m := item.rank()
		size := sizes[m.family] + 1
		if size > widest[m.shape] {
			if compared == MaxCompared {
				r.ignored = append(r.ignored, item)
				continue
			}
			compared, widest[m.shape] = compared+1, size
		}
		sizes[m.family] = size
		inUse = append(inUse, item)
	}
	r.inUse = NewRanking(inUse)
}
