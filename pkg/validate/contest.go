package validate

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/pkg/profile"
)

// contender is a profile that may want what another one wants.
type contender[T any] interface {
	profile.Ranked
	EquallySpecific(T) bool
}

// contest ranks the profiles of a namespace, or of the cluster. Of many profiles with the
// same selector it asks once.
type contest[T contender[T]] struct {
	ranking *profile.Ranking[T]
	name    func(T) string
	matches map[string][]T // by the labels that a selector needs
}

func newContest[T contender[T]](profiles []T, name func(T) string) *contest[T] {
	return &contest[T]{profile.NewRanking(profiles), name, map[string][]T{}}
}

// winner returns the name of the profile that wins what a profile is for, by age or by
// name alone, "" where none does. Without a cluster it asks about an object that has the
// labels that the selector needs and no others.
func (c *contest[T]) winner(of string, selector *metav1.LabelSelector) string {
	set := needed(selector)
	matches, asked := c.matches[set.String()]
	if !asked {
		matches = c.ranking.Matches(set)
		c.matches[set.String()] = matches
	}
	for _, p := range matches {
		if c.name(p) == of && c.name(matches[0]) != of && p.EquallySpecific(matches[0]) {
			return c.name(matches[0])
		}
	}
	return ""
}

// needed returns labels that a selector matches, if there are any.
func needed(selector *metav1.LabelSelector) labels.Set {
	set := labels.Set{}
	if selector == nil {
		return set
	}
	maps.Copy(set, selector.MatchLabels)
	for _, e := range selector.MatchExpressions {
		switch e.Operator {
		case metav1.LabelSelectorOpIn:
			if _, given := set[e.Key]; !given && len(e.Values) > 0 {
				set[e.Key] = e.Values[0]
			}
		case metav1.LabelSelectorOpExists:
			if _, given := set[e.Key]; !given {
				set[e.Key] = ""
			}
		case metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpDoesNotExist: // without the label
		}
	}
	return set
}

// contested says that two profiles want the same objects.
func contested(objects, winner string) string {
	return fmt.Sprintf("%s matches the same %s and is as specific: of such the oldest wins, then the first by name; make the selectors disjoint, or add a requirement to the one that should win", winner, objects)
}
