package profile

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Asked holds the label values that the selectors of profiles name, by key.
type Asked map[string]sets.Set[string]

// unnamed stands for all values that no selector names. No label has it.
const unnamed = "="

// Asked returns the label values that the selectors of all items in use name.
func (r *Ranking[T]) Asked() Asked {
	asked := Asked{}
	for item := range r.used() {
		requirements, _ := item.rank().selector.Requirements()
		for i := range requirements {
			key := requirements[i].Key()
			if asked[key] == nil {
				asked[key] = sets.Set[string]{}
			}
			asked[key].Insert(requirements[i].ValuesUnsorted()...)
		}
	}
	return asked
}

// Of returns the part of an object's labels that selectors ask for: the selectors match it as they
// match all of the labels. The pods of a StatefulSet or of many Jobs differ in labels that no
// selector asks for, or in values that none names.
func (a Asked) Of(set labels.Set) labels.Set {
	of := labels.Set{}
	for key, value := range set {
		values, is := a[key]
		switch {
		case !is:
		case values.Has(value):
			of[key] = value
		default:
			of[key] = unnamed
		}
	}
	return of
}
