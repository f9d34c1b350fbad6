package profile

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of a selector, which bound the cost of comparing one with the labels of an object. The rules of the API
// server are the same.
const (
	MaxMatchLabels      = 8
	MaxMatchExpressions = 8
	MaxMatchValues      = 64 // of all expressions together
)

// matcher is a selector and its rank among others. See the package comment for
// the rule.
type matcher struct {
	selector     labels.Selector
	learned      bool // its vector is only observed
	requirements int
	created      metav1.Time
	name         string

	exact  []string // the keys with one required value each, in order
	shape  string   // those keys as one text
	family family   // with their values
}

// newMatcher compiles a selector, or returns its errors, in a deterministic order.
func newMatcher(meta *metav1.ObjectMeta, selector *metav1.LabelSelector) (matcher, field.ErrorList) {
	compiled, errs := Selector(selector, field.NewPath("spec", "selector"))
	if len(errs) > 0 {
		return matcher{}, errs
	}
	requirements, _ := compiled.Requirements()
	m := matcher{selector: compiled, requirements: len(requirements), created: meta.CreationTimestamp, name: meta.Name}
	for _, r := range requirements {
		if value, exact := compiled.RequiresExactMatch(r.Key()); exact && !slices.Contains(m.exact, r.Key()) {
			m.exact = append(m.exact, r.Key())
			m.family = m.family.with(r.Key(), value)
		}
	}
	m.shape = strings.Join(m.exact, ",")
	return m, nil
}

// Selector compiles the selector at a path, or returns its errors, in a deterministic order.
func Selector(selector *metav1.LabelSelector, path *field.Path) (labels.Selector, field.ErrorList) {
	if selector == nil {
		return nil, field.ErrorList{field.Required(path, "say which labels to match; {} matches all")}
	}
	if errs := tooLarge(selector, path); len(errs) > 0 {
		return nil, errs
	}
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	if err == nil {
		return compiled, nil
	}
	errs := validation.ValidateLabelSelector(selector, validation.LabelSelectorValidationOptions{}, path)
	if len(errs) == 0 { // both have the rules of Kubernetes
		errs = field.ErrorList{field.InternalError(path, err)}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
	return nil, errs
}

// tooLarge says which limit a selector exceeds.
func tooLarge(selector *metav1.LabelSelector, path *field.Path) (errs field.ErrorList) {
	values := 0
	for i := range selector.MatchExpressions {
		values += len(selector.MatchExpressions[i].Values)
	}
	expressions := path.Child("matchExpressions")
	for _, limit := range []struct {
		path    *field.Path
		n, most int
		rule    string
	}{
		{path.Child("matchLabels"), len(selector.MatchLabels), MaxMatchLabels, "a selector has at most %d matchLabels"},
		{expressions, len(selector.MatchExpressions), MaxMatchExpressions, "a selector has at most %d matchExpressions"},
		{expressions, values, MaxMatchValues, "the matchExpressions of a selector have at most %d values in all"},
	} {
		if limit.n > limit.most {
			errs = append(errs, field.Invalid(limit.path, limit.n, fmt.Sprintf(limit.rule, limit.most)))
		}
	}
	return errs
}

// compare orders matchers by rank: negative if m wins.
func (m *matcher) compare(other *matcher) int {
	return cmp.Or(
		m.compareOrigins(other),
		cmp.Compare(other.requirements, m.requirements),
		m.compareAges(other),
	)
}

// compareSeniority orders matchers by which are in use where not all can be: negative if m rather is.
func (m *matcher) compareSeniority(other *matcher) int {
	return cmp.Or(m.compareOrigins(other), m.compareAges(other))
}

// compareOrigins has those that a team declared before those that are only observed.
func (m *matcher) compareOrigins(other *matcher) int {
	switch {
	case m.learned == other.learned:
		return 0
	case m.learned:
		return 1
	default:
		return -1
	}
}

// compareAges has the oldest first, of one age the first by name.
func (m *matcher) compareAges(other *matcher) int {
	return cmp.Or(m.created.Compare(other.created.Time), cmp.Compare(m.name, other.name))
}

// family stands for the labels that selectors require exactly: it is the hash of their keys and values, in the order
// of the keys, 0 of none. Those of one hash are compared by the whole selector.
type family uint64

// with returns the family with one label more.
func (f family) with(key, value string) family {
	return family(maphash.Comparable(seed, link{f, key, value}))
}

type link struct {
	before     family
	key, value string
}
