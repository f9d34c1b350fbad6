package profile

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Asked is what the selectors of profiles ask of labels: the values that they name, by
// key.
type Asked map[string]sets.Set[string]

// unnamed stands for all values that no selector names. No label has it.
const unnamed = "="

// Asked returns what the selectors of all items in use ask of labels.
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

// Of returns what is asked of the labels of an object: the selectors match that as they
// match the labels. The pods of a StatefulSet or of many Jobs differ in labels that no
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
