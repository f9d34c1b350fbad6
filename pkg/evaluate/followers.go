package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

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

// follow returns, by the names of the profiles, which objects follow them.
func follow[T interface {
	profile.Ranked
	EquallySpecific(T) bool
}](profiles []T, objects []labels.Set, name func(T) string) map[string]followers {
	ranking := profile.NewRanking(profiles)
	all := make(map[string]followers, len(profiles))
	for _, p := range profiles {
		all[name(p)] = followers{wins: map[string]int{}, loses: map[string]int{}}
	}
	for _, object := range objects {
		matches := ranking.Matches(object)
		if len(matches) == 0 {
			continue
		}
		winner := matches[0]
		f := all[name(winner)]
		f.count++
		all[name(winner)] = f
		for _, p := range matches[1:] {
			if p.EquallySpecific(winner) {
				f.wins[name(p)]++
				all[name(p)].loses[name(winner)]++
			}
		}
	}
	return all
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
