package profile_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

func TestTheMostSpecificThenTheOldestThenTheFirstByNameWins(t *testing.T) {
	t.Parallel()
	exists := func(keys ...string) *metav1.LabelSelector {
		s := &metav1.LabelSelector{}
		for _, key := range keys {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpExists})
		}
		return s
	}
	type contender struct {
		name     string
		selector *metav1.LabelSelector
		age      time.Duration
	}
	tests := map[string]struct {
		contenders []contender
		want       []string // best first
	}{
		"more requirements beat age": {
			[]contender{{"old", exists("app"), time.Hour}, {"new", exists("app", "tier"), 0}},
			[]string{"new", "old"},
		},
		"labels and expressions count alike": {
			[]contender{{"label", app("web"), 0}, {"expression", exists("app"), time.Hour}, {"default", exists(), time.Hour}},
			[]string{"expression", "label", "default"},
		},
		"among equals the oldest": {
			[]contender{{"a", app("web"), time.Minute}, {"b", app("web"), time.Hour}, {"c", app("web"), 0}},
			[]string{"b", "a", "c"},
		},
		"at one age the first by name": {
			[]contender{{"b", app("web"), 0}, {"a", exists("tier"), 0}, {"c", app("web"), 0}},
			[]string{"a", "b", "c"},
		},
		"what does not match is out": {
			[]contender{{"other", app("db"), time.Hour}, {"more", exists("app", "tier", "zone"), 0}, {"this", app("web"), 0}},
			[]string{"this"},
		},
	}
	pod := labels.Set{"app": "web", "tier": "front"}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var workloads []*profile.Workload
			for _, c := range test.contenders {
				p := declared(c.name, demand("cpu", "1"))
				p.Spec.Selector, p.CreationTimestamp = c.selector, metav1.NewTime(noon.Add(-c.age))
				workloads = append(workloads, valid(t, p))
			}
			var got []string
			for _, w := range profile.NewRanking(workloads).Matches(pod) {
				got = append(got, w.Name)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("unexpected order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoneWinsWhereNoneMatches(t *testing.T) {
	t.Parallel()
	for name, workloads := range map[string][]*profile.Workload{
		"no profiles":   nil,
		"other":         {valid(t, declared("db", demand("cpu", "1")))},
		"other and web": {valid(t, declared("db", demand("cpu", "1"))), valid(t, declared("api", demand("cpu", "1")))},
	} {
		if w, ok := profile.NewRanking(workloads).Winner(labels.Set{"app": "web"}); ok || w != nil {
			t.Errorf("%s: %v, %v, want none", name, w, ok)
		}
	}
}

func TestTheOrderInWhichProfilesArriveDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		profiles := rapid.SliceOfNDistinct(profiles(), 1, 8, func(p *v1alpha1.WorkloadProfile) string { return p.Name }).Draw(t, "profiles")
		set := labelSets().Draw(t, "labels")
		names := func(profiles []*v1alpha1.WorkloadProfile) []string {
			return matches(profile.NewRanking(compiled(t, profiles)), set)
		}
		if diff := gocmp.Diff(names(profiles), names(rapid.Permutation(profiles).Draw(t, "order"))); diff != "" {
			t.Fatalf("another order gives another answer:\n%s", diff)
		}
	})
}

// The rule, applied to every profile in turn, gives the same result as the ranking, which does not
// look at all of them.
func TestTheRankingAgreesWithTheRuleAppliedToAllProfiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(profiles(), 0, 12, func(p *v1alpha1.WorkloadProfile) string { return p.Name }).Draw(t, "profiles")
		set := labelSets().Draw(t, "labels")
		ranking := profile.NewRanking(compiled(t, all))

		var want []string
		slices.SortFunc(all, func(a, b *v1alpha1.WorkloadProfile) int {
			return cmp.Or(
				cmp.Compare(requirements(b), requirements(a)),
				a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
				cmp.Compare(a.Name, b.Name),
			)
		})
		for _, p := range all {
			if selects(p.Spec.Selector, set) {
				want = append(want, p.Name)
			}
		}
		if diff := gocmp.Diff(want, matches(ranking, set)); diff != "" {
			t.Fatalf("unexpected matches (-want +got):\n%s", diff)
		}
		winner, ok := ranking.Winner(set)
		if ok != (len(want) > 0) {
			t.Fatalf("winner found: %v, matches: %v", ok, want)
		}
		if ok && winner.Name != want[0] {
			t.Fatalf("winner %s, want %s", winner.Name, want[0])
		}
	})
}

// labelSets draws labels of few keys and values, so that they often match.
func labelSets() *rapid.Generator[labels.Set] {
	return rapid.Custom(func(t *rapid.T) labels.Set {
		return rapid.MapOfN(keys, values, 0, 3).Draw(t, "labels")
	})
}

var (
	keys   = rapid.SampledFrom([]string{"app", "tier", "zone"})
	values = rapid.SampledFrom([]string{"", "a", "b", "c"})
)

// profiles draws valid profiles of any selector, of a few ages and names.
func profiles() *rapid.Generator[*v1alpha1.WorkloadProfile] {
	return rapid.Custom(func(t *rapid.T) *v1alpha1.WorkloadProfile {
		p := declared(fmt.Sprintf("p%02d", rapid.IntRange(0, 99).Draw(t, "name")), demand("cpu", "1"))
		p.CreationTimestamp = metav1.NewTime(noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "age")) * time.Second))
		p.Spec.Selector = &metav1.LabelSelector{
			MatchLabels:      rapid.MapOfN(keys, values, 0, 2).Draw(t, "matchLabels"),
			MatchExpressions: rapid.SliceOfN(expressions(), 0, 2).Draw(t, "matchExpressions"),
		}
		return p
	})
}

func expressions() *rapid.Generator[metav1.LabelSelectorRequirement] {
	return rapid.Custom(func(t *rapid.T) metav1.LabelSelectorRequirement {
		e := metav1.LabelSelectorRequirement{
			Key: keys.Draw(t, "key"),
			Operator: rapid.SampledFrom([]metav1.LabelSelectorOperator{
				metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist,
			}).Draw(t, "operator"),
		}
		if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
			e.Values = rapid.SliceOfN(values, 1, 3).Draw(t, "values") // a value may come twice
		}
		return e
	})
}

// requirements counts the requirements of a profile's selector.
func requirements(p *v1alpha1.WorkloadProfile) int {
	return len(p.Spec.Selector.MatchLabels) + len(p.Spec.Selector.MatchExpressions)
}

// selects is the meaning of a selector, spelled out.
func selects(s *metav1.LabelSelector, set labels.Set) bool {
	for key, value := range s.MatchLabels {
		if got, ok := set[key]; !ok || got != value {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		value, has := set[e.Key]
		in := has && slices.Contains(e.Values, value)
		if !map[metav1.LabelSelectorOperator]bool{
			metav1.LabelSelectorOpIn:           in,
			metav1.LabelSelectorOpNotIn:        !in,
			metav1.LabelSelectorOpExists:       has,
			metav1.LabelSelectorOpDoesNotExist: !has,
		}[e.Operator] {
			return false
		}
	}
	return true
}

func compiled(t *rapid.T, profiles []*v1alpha1.WorkloadProfile) []*profile.Workload {
	workloads := make([]*profile.Workload, len(profiles))
	for i, p := range profiles {
		w, errs := profile.NewWorkload(p, profile.NewResources(nil))
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		workloads[i] = w
	}
	return workloads
}

func matches(r *profile.Ranking[*profile.Workload], set labels.Set) []string {
	var names []string
	for _, w := range r.Matches(set) {
		names = append(names, w.Name)
	}
	return names
}
