package extremes

import (
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Coverage says what was tried.
type Coverage struct {
	// Tried is how many objects were passed on, Refused how many the API server would
	// refuse.
	Tried, Refused int
	// Unreached are the fields of which each object was refused.
	Unreached []string
}

// Each calls try with copies of an object of the kind in which one field has an extreme
// value, each named such as "spec.processors = 4096", with the defaults of the API server
// set.
func (k *Kind) Each(t testing.TB, object *unstructured.Unstructured, try func(name string, o *unstructured.Unstructured)) Coverage {
	t.Helper()
	var c coverage
	for _, e := range k.extremes(object) {
		c.note(k.try(t, object, []extreme{e}, try), e)
	}
	return c.summary()
}

// Pairs calls try with copies in which two fields have extreme values: a number of pairs,
// the same each time. All of them if there are no more, or if the number is 0.
func (k *Kind) Pairs(t testing.TB, object *unstructured.Unstructured, number int, try func(name string, o *unstructured.Unstructured)) Coverage {
	t.Helper()
	var c coverage
	for _, p := range pairs(k.extremes(object), number) {
		slices.SortStableFunc(p, func(a, b extreme) int { return a.depth - b.depth })
		c.note(k.try(t, object, p, try), p...)
	}
	return c.summary()
}

// extremes returns the extremes of an object of the kind.
func (k *Kind) extremes(object *unstructured.Unstructured) []extreme {
	v := &visitor{}
	v.visit(&k.spec, nil, []any{object.Object["spec"]})
	return v.found
}

// try passes on a copy of an object with some extremes, and reports whether it is
// admitted.
func (k *Kind) try(t testing.TB, object *unstructured.Unstructured, all []extreme, try func(name string, o *unstructured.Unstructured)) bool {
	t.Helper()
	changed, name := object.DeepCopy(), ""
	for i, e := range all {
		if i > 0 {
			name += ", "
		}
		name += e.name
		e.set(changed.Object["spec"])
	}
	changed.SetGroupVersionKind(k.GroupVersionKind())
	admitted, refused, err := k.rules.Admit(t.Context(), changed.Object)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(refused) > 0 {
		return false
	}
	try(name, &unstructured.Unstructured{Object: admitted})
	return true
}

// pairs returns pairs of extremes of different fields.
func pairs(all []extreme, number int) [][]extreme {
	var found [][]extreme
	for i := range all {
		for j := range i {
			if all[i].field != all[j].field {
				found = append(found, []extreme{all[j], all[i]})
			}
		}
	}
	if number == 0 || number >= len(found) {
		return found
	}
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	return found[:number]
}

// coverage counts.
type coverage struct {
	Coverage

	reached map[string]bool
}

func (c *coverage) note(admitted bool, all ...extreme) {
	if c.reached == nil {
		c.reached = map[string]bool{}
	}
	if admitted {
		c.Tried++
	} else {
		c.Refused++
	}
	for _, e := range all {
		c.reached[e.field] = c.reached[e.field] || admitted
	}
}

func (c *coverage) summary() Coverage {
	for field, reached := range c.reached {
		if !reached {
			c.Unreached = append(c.Unreached, field)
		}
	}
	slices.Sort(c.Unreached)
	return c.Coverage
}
