package profile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// aged are n profiles, the first the oldest, with selectors.
func aged(n int, selector func(i int) *metav1.LabelSelector) []*v1alpha1.WorkloadProfile {
	all := make([]*v1alpha1.WorkloadProfile, n)
	for i := range all {
		all[i] = declared(fmt.Sprintf("w-%04d", i), demand("cpu", "0.5"))
		all[i].Spec.Selector, all[i].CreationTimestamp = selector(i), metav1.NewTime(noon.Add(time.Duration(i)*time.Second))
	}
	return all
}

// subset requires label-k=a where bit k of i is set, so that all match a pod with all of the labels.
func subset(i int) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for k := range profile.MaxMatchLabels {
		if i>>k&1 == 1 {
			s.MatchLabels[fmt.Sprintf("label-%d", k)] = "a"
		}
	}
	return s
}

func TestAPodIsComparedWithABoundedNumberOfSelectors(t *testing.T) {
	t.Parallel()
	pod := labels.Set{"app": "web"}
	for k := range profile.MaxMatchLabels {
		pod[fmt.Sprintf("label-%d", k)] = "a"
	}
	for name, selector := range map[string]func(i int) *metav1.LabelSelector{
		"without requirements":   func(int) *metav1.LabelSelector { return &metav1.LabelSelector{} },
		"without an exact label": func(int) *metav1.LabelSelector { return large(0, 3, 3) },
		"of one label":           func(int) *metav1.LabelSelector { return app("web") },
		"of other keys each":     func(i int) *metav1.LabelSelector { return subset(i % 256) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []*profile.Workload
			for _, p := range aged(1000, selector) {
				all = append(all, valid(t, p))
			}
			ranking := profile.NewRanking(all)
			if n := len(ranking.Matches(pod)); n != profile.MaxCompared {
				t.Errorf("%d selectors match, want %d", n, profile.MaxCompared)
			}
			if n := len(ranking.Ignored()); n != 1000-profile.MaxCompared {
				t.Errorf("%d are ignored", n)
			}
			if first := ranking.Ignored()[0].Name; first != "w-0100" {
				t.Errorf("%s is ignored first, want the one after the %d oldest", first, profile.MaxCompared)
			}
		})
	}
}

// Charts give all pods of a release a label in common, which comes first.
func TestAnyNumberOfProfilesWithALabelOfTheirOwnIsInUse(t *testing.T) {
	t.Parallel()
	const n = 2000
	var all []*profile.Workload
	for _, p := range aged(n, func(i int) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/instance": "prod", "app.kubernetes.io/name": fmt.Sprint(i)}}
	}) {
		all = append(all, valid(t, p))
	}
	ranking := profile.NewRanking(all)
	if ignored := ranking.Ignored(); len(ignored) > 0 {
		t.Errorf("%d profiles are ignored", len(ignored))
	}
	for _, i := range []int{0, 1, n - 1} {
		w, ok := ranking.Winner(labels.Set{"app.kubernetes.io/instance": "prod", "app.kubernetes.io/name": fmt.Sprint(i), "pod-template-hash": "x"})
		if !ok || w != all[i] {
			t.Errorf("pod %d follows %v", i, w)
		}
	}
}

func TestObservedProfilesMakeRoomForDeclaredOnes(t *testing.T) {
	t.Parallel()
	var all []*profile.Workload
	for i, p := range aged(profile.MaxCompared+1, func(int) *metav1.LabelSelector { return &metav1.LabelSelector{} }) {
		if i < profile.MaxCompared {
			p.Spec.Resources, p.Spec.Observation = nil, &v1alpha1.Observation{Mode: v1alpha1.ModeApply}
		}
		all = append(all, valid(t, p))
	}
	ignored := profile.NewRanking(all).Ignored()
	if len(ignored) != 1 || ignored[0].Name != fmt.Sprintf("w-%04d", profile.MaxCompared-1) {
		t.Errorf("%d are ignored, want the youngest that is only observed", len(ignored))
	}
}

func TestTheIndexCountsAndLogsProfilesThatAreIgnored(t *testing.T) {
	t.Parallel()
	var logged []string
	x := profile.NewIndex([]config.RequestRule{cpuRule}, funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	all := aged(profile.MaxCompared+2, func(int) *metav1.LabelSelector { return &metav1.LabelSelector{} })
	for _, p := range all {
		x.OnAdd(p, true)
	}
	used, ignored := x.Snapshot().Counts()
	if used != profile.MaxCompared || ignored != 2 {
		t.Errorf("%d are in use and %d ignored", used, ignored)
	}
	if n := len(slices.Collect(x.Snapshot().WorkloadsIn("shop"))); n != profile.MaxCompared {
		t.Errorf("pods can follow %d profiles", n)
	}
	want := `"msg"="Ignored profiles, since an object would be compared with too many selectors: give them labels that only their objects have" "error"=null ` +
		`"kind"="WorkloadProfile" "namespace"="shop" "ignored"=2 "maxCompared"=100`
	if diff := gocmp.Diff([]string{want}, logged); diff != "" {
		t.Errorf("unexpected log (-want +got):\n%s", diff)
	}
	x.OnDelete(all[0])
	x.OnDelete(all[1])
	if used, ignored := x.Snapshot().Counts(); used != profile.MaxCompared || ignored != 0 {
		t.Errorf("without the two oldest, %d are in use and %d ignored", used, ignored)
	}
}

// The scheduler takes in changes one by one, the controllers all profiles at once.
func TestHoweverProfilesArriveTheSameAreInUse(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: labels.Set{"label-0": "a", "label-1": "a", "tier": "a"}}}
	rapid.Check(t, func(t *rapid.T) {
		all := aged(profile.MaxCompared+20, func(i int) *metav1.LabelSelector {
			s := subset(rapid.IntRange(0, 3).Draw(t, "keys"))
			if i%2 == 0 {
				s.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}
			}
			return s
		})
		x := indexOf()
		for _, p := range rapid.Permutation(all).Draw(t, "order") {
			x.OnAdd(p, true)
			if rapid.IntRange(0, 9).Draw(t, "look") == 0 {
				x.Snapshot()
			}
		}
		gone := rapid.IntRange(0, 40).Draw(t, "gone")
		for _, p := range all[:gone] {
			x.OnDelete(p)
			x.Snapshot()
		}
		s := x.Snapshot()
		var got []string
		for w := range s.WorkloadsIn("shop") {
			got = append(got, w.Name)
		}
		ranking := profile.NewRanking(compiled(t, all[gone:]))
		var want []string
		for _, p := range all[gone:] {
			if !slices.ContainsFunc(ranking.Ignored(), func(w *profile.Workload) bool { return w.Name == p.Name }) {
				want = append(want, p.Name)
			}
		}
		slices.Sort(got)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("in use (-at once +one by one):\n%s", diff)
		}
		winner, _ := ranking.Winner(pod.Labels)
		if follows := s.Workload(pod); follows.Name != winner.Name {
			t.Fatalf("the pod follows %s, and %s of the profiles at once", follows.Name, winner.Name)
		}
	})
}

func TestSelectorsMatchWhatIsAskedOfLabelsAsTheLabels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(profiles(), 0, 8, func(p *v1alpha1.WorkloadProfile) string { return p.Name }).Draw(t, "profiles")
		set := labelSets().Draw(t, "labels")
		set["pod-name"] = "web-0"
		ranking := profile.NewRanking(compiled(t, all))
		asked := ranking.Asked().Of(set)
		if strings.Contains(asked.String(), "pod-name") {
			t.Fatalf("%v is kept of %v", asked, set)
		}
		if diff := gocmp.Diff(matches(ranking, set), matches(ranking, asked)); diff != "" {
			t.Fatalf("%v matches other selectors than %v (-labels +asked):\n%s", asked, set, diff)
		}
	})
}
