package profiles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// followers are the objects that follow one profile. The zero value is of a
// profile that none follow.
type followers struct {
	count int32
	wins  map[string]int // over equally specific profiles, by their name
	loses map[string]int // to equally specific profiles
}

// following is which objects follow which profiles.
type following struct {
	followers map[string]followers // by the names of the profiles
	ignored   sets.Set[string]     // the names of those that are, because there are too many
	uncounted int                  // objects that were not looked at
}

// maxKinds is how many objects are compared with selectors at most, of those that the
// selectors may tell apart.
const maxKinds = 5_000

// follow returns which objects follow which profiles. It takes time in the number of
// objects, and of no more kinds of them than maxKinds, and compares each kind with no more
// than [profile.MaxCompared] selectors.
func follow[T interface {
	profile.Ranked
	EquallySpecific(T) bool
}](profiles []T, objects []labels.Set, name func(T) string) following {
	ranking := profile.NewRanking(profiles)
	all := make(map[string]followers, len(profiles))
	for _, p := range profiles {
		all[name(p)] = followers{wins: map[string]int{}, loses: map[string]int{}}
	}
	kinds, uncounted := kindsOf(ranking.Asked(), objects)
	for _, kind := range kinds {
		matches := ranking.Matches(kind.labels)
		if len(matches) == 0 {
			continue
		}
		winner := matches[0]
		f := all[name(winner)]
		f.count += int32(kind.objects)
		all[name(winner)] = f
		for _, p := range matches[1:] {
			if p.EquallySpecific(winner) {
				f.wins[name(p)] += kind.objects
				all[name(p)].loses[name(winner)] += kind.objects
			}
		}
	}
	ignored := sets.New[string]()
	for _, p := range ranking.Ignored() {
		ignored.Insert(name(p))
	}
	return following{all, ignored, uncounted}
}

// kind are the objects that selectors cannot tell apart.
type kind struct {
	name    string // the labels as one text
	labels  labels.Set
	objects int
}

// kindsOf returns the kinds of objects of most objects, maxKinds of them at most, and how
// many objects are of others. They are the same in whichever order the objects come.
func kindsOf(asked profile.Asked, objects []labels.Set) (kinds []kind, others int) {
	at := map[string]int{}
	for _, object := range objects {
		of := asked.Of(object)
		name := of.String()
		i, known := at[name]
		if !known {
			i = len(kinds)
			at[name] = i
			kinds = append(kinds, kind{name: name, labels: of})
		}
		kinds[i].objects++
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(b.objects, a.objects), cmp.Compare(a.name, b.name))
	})
	shown := min(len(kinds), maxKinds)
	for _, k := range kinds[shown:] {
		others += k.objects
	}
	return kinds[:shown], others
}

// followersOf returns the followers of a profile.
func (f *following) followersOf(name string) followers { return f.followers[name] }

// withLimits adds to the condition Ready of a profile what limits do to it. What follows it is
// named by the first word, where it is by the second.
func (f *following) withLimits(ready metav1.Condition, name, object, place string) metav1.Condition {
	if f.ignored.Has(name) {
		return metav1.Condition{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonTooManySelectors,
			Message: fmt.Sprintf("the scheduler ignores this profile: a %s of the %s would be compared with more than %d selectors, and older profiles go first; "+
				"add a label to spec.selector.matchLabels that only the %ss of this profile have, or delete profiles", object, place, profile.MaxCompared, object),
		}
	}
	if f.uncounted > 0 {
		ready.Message += fmt.Sprintf("; %d %ss of the %s are not counted, since selectors tell more than %d kinds of %ss apart by their labels", f.uncounted, object, place, maxKinds, object)
	}
	return ready
}

// conflicted returns the condition of the profile that the followers are of,
// each of them an object: a pod or a node.
func (f followers) conflicted(object string) metav1.Condition {
	if len(f.wins)+len(f.loses) == 0 {
		return metav1.Condition{
			Type: v1alpha1.ConditionConflicted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNoOverlap,
			Message: fmt.Sprintf("no equally specific profile matches the same %ss", object),
		}
	}
	var contests []string
	if len(f.loses) > 0 {
		contests = append(contests, "loses "+byCount(f.loses, object, "to"))
	}
	if len(f.wins) > 0 {
		contests = append(contests, "wins "+byCount(f.wins, object, "over"))
	}
	return metav1.Condition{
		Type: v1alpha1.ConditionConflicted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSelectorOverlap,
		Message: "this profile " + strings.Join(contests, " and ") +
			"; of equally specific profiles the oldest wins, then the first by name: make the selectors disjoint, or add a requirement to the one that should win",
	}
}

// byCount says how many objects are lost to (or won over) which profiles, the
// largest number first: "3 pods to web, 1 pod to api".
func byCount(counts map[string]int, object, preposition string) string {
	const shown = 5
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(len(names), shown)] {
		plural := "s"
		if counts[name] == 1 {
			plural = ""
		}
		parts = append(parts, fmt.Sprintf("%d %s%s %s %s", counts[name], object, plural, preposition, name))
	}
	if more := len(names) - shown; more > 0 {
		parts = append(parts, fmt.Sprintf("and more %s %d others", preposition, more))
	}
	return strings.Join(parts, ", ")
}
