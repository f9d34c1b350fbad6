package profiles_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/profiles"
	"loadline.dev/loadline/test/given"
)

// matching returns the profile with another selector.
func matching(p v1alpha1.WorkloadProfile, selector *metav1.LabelSelector) v1alpha1.WorkloadProfile {
	p.Spec.Selector = selector
	return p
}

// pods returns the labels of n pods of an app.
func pods(n int, app string) []labels.Set {
	all := make([]labels.Set, n)
	for i := range all {
		all[i] = labels.Set{"app": app, "tier": "front"}
	}
	return all
}

// says returns what a condition says: its status, reason and message.
func says(conditions []metav1.Condition, kind string) string {
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

const (
	advice  = "; of equally specific profiles the oldest wins, then the first by name: make the selectors disjoint, or add a requirement to the one that should win"
	noPods  = "False NoOverlap: no equally specific profile matches the same pods"
	noNodes = "False NoOverlap: no equally specific profile matches the same nodes"
	used    = "True Declared: the scheduler uses the vector in spec.resources for the pods that follow this profile"
	served  = "True Declared: the scheduler uses the servers in spec.resources for the nodes that follow this profile"
)

func TestReadySaysWhetherTheSchedulerUsesAWorkloadProfile(t *testing.T) {
	t.Parallel()
	gpu := v1alpha1.ResourceDemand{Name: "gpu", Loading: new(resource.MustParse("0.5"))}
	tests := map[string]struct {
		profile v1alpha1.WorkloadProfile
		nodes   []v1alpha1.NodeProfile
		want    string
	}{
		"one that is valid": {profile: given.Workload("web", 0, given.CPU("0.5")), want: used},
		"one of so many threads that not all of them count": {
			profile: given.Workload("web", 0, v1alpha1.ResourceDemand{Name: "cpu", Loading: new(resource.MustParse("0.1")), Threads: new(int32(1024))}),
			want:    used + "; of the threads at cpu no more count on a node than 4 for each of its servers, and at least 32",
		},
		"one of threads that all count": {
			profile: given.Workload("web", 0, v1alpha1.ResourceDemand{Name: "cpu", Loading: new(resource.MustParse("0.1")), Threads: new(int32(32))}), want: used,
		},
		"one with a resource of some node": {
			profile: given.Workload("web", 0, gpu), nodes: []v1alpha1.NodeProfile{given.Class("big", given.GPUs(8))}, want: used,
		},
		"one with a resource of no node": {
			profile: given.Workload("web", 0, given.CPU("0.1"), gpu, v1alpha1.ResourceDemand{Name: "dsik", Loading: new(resource.MustParse("0.1"))}),
			want: "True UnknownResource: the scheduler ignores the demand at gpu, dsik: no NodeProfile names such a resource; " +
				"correct the name, or add it to the profile of the nodes that have it",
		},
		"one with a resource of an invalid NodeProfile": {
			profile: given.Workload("web", 0, gpu), nodes: []v1alpha1.NodeProfile{given.Class("big", given.GPUs(0))},
			want: "True UnknownResource: the scheduler ignores the demand at gpu: no NodeProfile names such a resource; " +
				"correct the name, or add it to the profile of the nodes that have it",
		},
		"one that has advice": {
			profile: observed(v1alpha1.ModeAdvise, "fast"),
			want: "Unknown Advising: the scheduler places the pods that follow this profile by their requests while spec.observation.mode is advise; " +
				"status.observations shows which vector is recommended",
		},
		"one that nothing was observed of": {
			profile: observed(v1alpha1.ModeApply),
			want: "Unknown NotObserved: the scheduler places the pods that follow this profile by their requests until gauges have observed them " +
				"for long enough to recommend a vector",
		},
		"one that follows what is observed": {
			profile: observed(v1alpha1.ModeApply, "fast", v1alpha1.NoNodeProfile),
			want: "True Observed: the scheduler uses the observed vectors for the pods that follow this profile: on nodes without a NodeProfile the one observed there, " +
				"on nodes of fast the one observed there, on others that of nodes without a NodeProfile",
		},
		"one that was measured on some nodes and observed on others": {
			profile: given.Measured(observed(v1alpha1.ModeApply, "fast"), given.On("big", given.Noon, 100, given.Found("cpu", "0.5"))),
			want: "True Measured: the scheduler uses the measured and the observed vectors for the pods that follow this profile: on nodes of big that of 2026-07-01T12:00:00Z, " +
				"on nodes of fast the one observed there, on others that of nodes of big",
		},
		"one that is invalid": {
			profile: given.Workload("web", 0, given.CPU("58")),
			want:    `False Invalid: the scheduler ignores this profile: spec.resources[0].loading: Invalid value: "58": is not a fraction from 0 to 1`,
		},
		"one with two mistakes": {
			profile: matching(given.Workload("web", 0), nil),
			want: "False Invalid: the scheduler ignores this profile: [spec.selector: Required value: say which labels to match; {} matches all, " +
				"spec.resources: Required value: list at least one resource, or say under spec.measurement how to measure them, or under spec.observation that gauges observe them]",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := profiles.WorkloadProfiles([]v1alpha1.WorkloadProfile{test.profile}, pods(3, "web"), test.nodes, given.Noon)[0]
			if diff := cmp.Diff(test.want, says(status.Conditions, v1alpha1.ConditionReady)); diff != "" {
				t.Errorf("unexpected condition (-want +got):\n%s", diff)
			}
			if *status.ObservedGeneration != 3 {
				t.Errorf("observed generation %d, want 3", *status.ObservedGeneration)
			}
			wantPods := int32(3)
			if strings.HasPrefix(test.want, "False") {
				wantPods = 0
				if len(status.Resources) > 0 {
					t.Errorf("a vector is shown that is not in use: %v", status.Resources)
				}
			}
			if *status.Pods != wantPods {
				t.Errorf("%d pods follow the profile, want %d", *status.Pods, wantPods)
			}
		})
	}
}

// observed is a profile that follows what was observed on the nodes of some classes.
func observed(mode string, classes ...string) v1alpha1.WorkloadProfile {
	p := given.Workload("web", 0)
	p.Spec.Observation = &v1alpha1.Observation{Mode: mode}
	for _, class := range classes {
		p.Status.Observations = append(p.Status.Observations, v1alpha1.WorkloadObservation{
			NodeProfile: class, Time: new(given.Noon), Recommended: &v1alpha1.RecommendedLoading{CPULoading: given.Quantity("0.5"), Threads: new(int32(1))},
		})
	}
	return p
}

func TestAStatusHasTheDiskOfAVectorThatFollowsWhatIsObserved(t *testing.T) {
	t.Parallel()
	p := observed(v1alpha1.ModeApply, "fast")
	p.Status.Observations[0].Recommended.DiskLoading = given.Quantity("0.25")
	got := map[string]string{}
	for _, r := range profiles.WorkloadProfiles([]v1alpha1.WorkloadProfile{p}, nil, nil, given.Noon)[0].Resources {
		got[r.Name] = r.Loading.String()
	}
	if diff := cmp.Diff(map[string]string{"cpu": "500m", "disk": "250m"}, got); diff != "" {
		t.Errorf("unexpected vector (-want +got):\n%s", diff)
	}
}

func TestConflictedNamesWhoCompetesForHowManyObjects(t *testing.T) {
	t.Parallel()
	front := given.Selector("tier", "front")
	many := []v1alpha1.WorkloadProfile{matching(given.Workload("first", time.Hour, given.CPU("0.5")), front)}
	for i := range 7 {
		many = append(many, given.Workload(fmt.Sprint("app-", i), 0, given.CPU("0.5")))
	}
	var manyPods []labels.Set
	for i := range 7 {
		manyPods = append(manyPods, pods(7-i, fmt.Sprint("app-", i))...)
	}
	tests := map[string]struct {
		profiles []v1alpha1.WorkloadProfile
		pods     []labels.Set
		want     map[string]string
	}{
		"the older one wins": {
			[]v1alpha1.WorkloadProfile{given.Workload("web", 0, given.CPU("0.5")), matching(given.Workload("front", time.Hour, given.CPU("0.1")), front)},
			pods(3, "web"),
			map[string]string{
				"front": "True SelectorOverlap: this profile wins 3 pods over web" + advice,
				"web":   "True SelectorOverlap: this profile loses 3 pods to front" + advice,
			},
		},
		"the first by name wins": {
			[]v1alpha1.WorkloadProfile{given.Workload("web", 0, given.CPU("0.5")), matching(given.Workload("front", 0, given.CPU("0.1")), front)},
			pods(1, "web"),
			map[string]string{
				"front": "True SelectorOverlap: this profile wins 1 pod over web" + advice,
				"web":   "True SelectorOverlap: this profile loses 1 pod to front" + advice,
			},
		},
		"a more specific one is no conflict": {
			[]v1alpha1.WorkloadProfile{
				matching(given.Workload("both", 0, given.CPU("0.5")), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}}),
				given.Workload("web", time.Hour, given.CPU("0.5")),
				matching(given.Workload("all", time.Hour, given.CPU("0.5")), &metav1.LabelSelector{}),
			},
			pods(3, "web"),
			map[string]string{"both": noPods, "web": noPods, "all": noPods},
		},
		"equals below the winner are no conflict": {
			[]v1alpha1.WorkloadProfile{
				matching(given.Workload("both", 0, given.CPU("0.5")), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}}),
				given.Workload("web", 0, given.CPU("0.5")),
				matching(given.Workload("front", 0, given.CPU("0.5")), front),
			},
			pods(3, "web"),
			map[string]string{"both": noPods, "web": noPods, "front": noPods},
		},
		"selectors that overlap on no pod are no conflict": {
			[]v1alpha1.WorkloadProfile{given.Workload("web", 0, given.CPU("0.5")), matching(given.Workload("front", 0, given.CPU("0.1")), front)},
			[]labels.Set{{"app": "web", "tier": "back"}, {"app": "db", "tier": "front"}},
			map[string]string{"front": noPods, "web": noPods},
		},
		"an invalid one does not compete": {
			[]v1alpha1.WorkloadProfile{given.Workload("web", 0, given.CPU("0.5")), matching(given.Workload("front", time.Hour, given.CPU("7")), front)},
			pods(3, "web"),
			map[string]string{"front": noPods, "web": noPods},
		},
		"one that wins and loses": {
			[]v1alpha1.WorkloadProfile{
				matching(given.Workload("a", time.Hour, given.CPU("0.5")), given.Selector("zone", "a")),
				given.Workload("web", time.Minute, given.CPU("0.5")),
				matching(given.Workload("front", 0, given.CPU("0.5")), front),
			},
			[]labels.Set{{"app": "web", "zone": "a"}, {"app": "web", "tier": "front"}, {"app": "web", "tier": "front"}},
			map[string]string{
				"a":     "True SelectorOverlap: this profile wins 1 pod over web" + advice,
				"web":   "True SelectorOverlap: this profile loses 1 pod to a and wins 2 pods over front" + advice,
				"front": "True SelectorOverlap: this profile loses 2 pods to web" + advice,
			},
		},
		"the five largest of many": {
			many, manyPods,
			map[string]string{
				"first": "True SelectorOverlap: this profile wins 7 pods over app-0, 6 pods over app-1, 5 pods over app-2, 4 pods over app-3, " +
					"3 pods over app-4, and more over 2 others" + advice,
				"app-6": "True SelectorOverlap: this profile loses 1 pod to first" + advice,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			statuses := profiles.WorkloadProfiles(test.profiles, test.pods, nil, given.Noon)
			for i, p := range test.profiles {
				want, ok := test.want[p.Name]
				if !ok {
					continue
				}
				if diff := cmp.Diff(want, says(statuses[i].Conditions, v1alpha1.ConditionConflicted)); diff != "" {
					t.Errorf("%s: unexpected condition (-want +got):\n%s", p.Name, diff)
				}
			}
		})
	}
}

func TestPodsAreCountedForTheProfileThatTheyFollow(t *testing.T) {
	t.Parallel()
	some := []v1alpha1.WorkloadProfile{
		matching(given.Workload("rest", time.Hour, given.CPU("0.1")), &metav1.LabelSelector{}),
		given.Workload("web", 0, given.CPU("0.5")),
		given.Workload("unused", 0, given.CPU("0.5")),
	}
	all := append(pods(3, "web"), nil, labels.Set{"app": "db"})
	got := map[string]int32{}
	for i, status := range profiles.WorkloadProfiles(some, all, nil, given.Noon) {
		got[some[i].Name] = *status.Pods
	}
	if diff := cmp.Diff(map[string]int32{"rest": 2, "web": 3, "unused": 0}, got); diff != "" {
		t.Errorf("unexpected counts (-want +got):\n%s", diff)
	}
}

func TestTheVectorInUseIsShownWithItsDefaults(t *testing.T) {
	t.Parallel()
	p := given.Workload("web", 0,
		given.CPU("0.58"),
		v1alpha1.ResourceDemand{Name: "disk", DemandMillis: new(int64(100)), Pressure: new(resource.MustParse("1")), Threads: new(int32(4))},
		v1alpha1.ResourceDemand{Name: "unheard-of", Loading: new(resource.MustParse("0"))},
	)
	p.Spec.NeutralMillis = new(int64(300))
	type shown struct {
		Name, Loading, Pressure string
		Threads                 int32
	}
	var got []shown
	for _, r := range profiles.WorkloadProfiles([]v1alpha1.WorkloadProfile{p}, nil, nil, given.Noon)[0].Resources {
		got = append(got, shown{r.Name, r.Loading.String(), r.Pressure.String(), *r.Threads})
	}
	want := []shown{{"cpu", "580m", "580m", 1}, {"disk", "333333u", "1", 4}, {"unheard-of", "0", "0", 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected vector (-want +got):\n%s", diff)
	}
}

func TestANodeProfileSaysHowItIsUsed(t *testing.T) {
	t.Parallel()
	big, also, none := given.Class("big", given.GPUs(8)), given.Class("also", given.GPUs(4)), given.Class("none", given.GPUs(0))
	also.Spec.Selector = given.Selector("zone", "a")
	also.CreationTimestamp = given.Evening
	statuses := profiles.NodeProfiles(
		[]v1alpha1.NodeProfile{big, also, none},
		[]labels.Set{{"class": "big"}, {"class": "big", "zone": "a"}, {"zone": "a"}, {"class": "none"}, {}},
		given.Noon,
	)
	type answer struct {
		Nodes             int32
		Generation        int64
		Ready, Conflicted string
	}
	want := []answer{
		{2, 2, served, "True SelectorOverlap: this profile wins 1 node over also" + advice},
		{1, 2, served, "True SelectorOverlap: this profile loses 1 node to big" + advice},
		{0, 2, "False Invalid: the scheduler ignores this profile: spec.resources[0].servers: Invalid value: 0: is not between 1 and 16384", noNodes},
	}
	var got []answer
	for _, s := range statuses {
		got = append(got, answer{*s.Nodes, *s.ObservedGeneration, says(s.Conditions, v1alpha1.ConditionReady), says(s.Conditions, v1alpha1.ConditionConflicted)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected statuses (-want +got):\n%s", diff)
	}
}

func TestAConditionKeepsItsTimeUntilItsStatusChanges(t *testing.T) {
	t.Parallel()
	p := given.Workload("web", 0, given.CPU("0.5"))
	p.Status.Conditions = []metav1.Condition{{Type: "Elsewhere", Status: metav1.ConditionTrue, Reason: "Kept", LastTransitionTime: given.Noon}}
	evaluated := func(now metav1.Time) map[string]string {
		p.Status = profiles.WorkloadProfiles([]v1alpha1.WorkloadProfile{p}, pods(1, "web"), nil, now)[0]
		times := map[string]string{}
		for _, c := range p.Status.Conditions {
			times[c.Type] = c.LastTransitionTime.Format("15h")
		}
		return times
	}
	check := func(step string, want, got map[string]string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: unexpected times (-want +got):\n%s", step, diff)
		}
	}
	check("at first", map[string]string{"Elsewhere": "12h", "Ready": "12h", "Conflicted": "12h"}, evaluated(given.Noon))
	p.Generation, p.Spec.Resources = 4, []v1alpha1.ResourceDemand{{Name: "gpu", Loading: new(resource.MustParse("0.5"))}}
	check("with another reason", map[string]string{"Elsewhere": "12h", "Ready": "12h", "Conflicted": "12h"}, evaluated(given.Evening))
	if c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady); c.ObservedGeneration != 4 || c.Reason != v1alpha1.ReasonUnknownResource {
		t.Errorf("the condition is of generation %d with reason %s, want 4 and UnknownResource", c.ObservedGeneration, c.Reason)
	}
	p.Spec.Resources = nil
	check("with another status", map[string]string{"Elsewhere": "12h", "Ready": "18h", "Conflicted": "12h"}, evaluated(given.Evening))
}

func TestAMessageFitsIntoAnEvent(t *testing.T) {
	t.Parallel()
	const most = 1024 // the API server's limit on the note of an event, in bytes
	for bytes := range 3 {
		p := given.Workload("web", 0, given.CPU("0.5"))
		p.Spec.Selector = given.Selector("app", strings.Repeat("x", bytes)+strings.Repeat("語", most))
		message := meta.FindStatusCondition(profiles.WorkloadProfiles([]v1alpha1.WorkloadProfile{p}, nil, nil, given.Noon)[0].Conditions, v1alpha1.ConditionReady).Message
		if len(message) > most || len(message) < most-utf8.UTFMax || !utf8.ValidString(message) {
			t.Errorf("%d bytes, want at most %d and not many fewer; valid: %v", len(message), most, utf8.ValidString(message))
		}
		if !strings.HasSuffix(message, "語…") {
			t.Errorf("the message does not show that it was cut: %q", message[len(message)-10:])
		}
	}
}

func TestEvaluatingAgainChangesNothingAndLeavesTheInputAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fractions := rapid.SampledFrom([]string{"0", "0.3333333", "0.5", "1", "7", "-1"})
		values := rapid.SampledFrom([]string{"a", "b", "not a value", "neither!"})
		sets := rapid.MapOfN(rapid.SampledFrom([]string{"app", "class", "tier"}), values, 0, 3)
		var workloads []v1alpha1.WorkloadProfile
		var nodes []v1alpha1.NodeProfile
		for i := range rapid.IntRange(1, 5).Draw(t, "profiles") {
			p := given.Workload(fmt.Sprint("p-", i), 0, given.CPU(fractions.Draw(t, "loading")), v1alpha1.ResourceDemand{Name: "gpu", Loading: new(resource.MustParse("0"))})
			p.Spec.Selector.MatchLabels = sets.Draw(t, "selector")
			workloads = append(workloads, p)
			n := given.Class(fmt.Sprint("n-", i), given.GPUs(rapid.Int32Range(0, 2).Draw(t, "gpus")))
			n.Spec.Selector.MatchLabels = sets.Draw(t, "selector")
			nodes = append(nodes, n)
		}
		var objects []labels.Set
		for _, set := range rapid.SliceOfN(sets, 0, 5).Draw(t, "labels") {
			objects = append(objects, set)
		}

		evaluateAll := func(now metav1.Time) ([]v1alpha1.WorkloadProfile, []v1alpha1.NodeProfile) {
			w, n := deepCopies(workloads, nodes)
			for i, status := range profiles.WorkloadProfiles(workloads, objects, nodes, now) {
				w[i].Status = status
			}
			for i, status := range profiles.NodeProfiles(nodes, objects, now) {
				n[i].Status = status
			}
			return w, n
		}
		before, beforeNodes := deepCopies(workloads, nodes)
		once, onceNodes := evaluateAll(given.Noon)
		if !equality.Semantic.DeepEqual(before, workloads) || !equality.Semantic.DeepEqual(beforeNodes, nodes) {
			t.Fatalf("the input changed")
		}
		workloads, nodes = once, onceNodes
		twice, twiceNodes := evaluateAll(given.Evening)
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Fatalf("WorkloadProfiles changed (-once +twice):\n%s", diff)
		}
		if diff := cmp.Diff(onceNodes, twiceNodes); diff != "" {
			t.Fatalf("NodeProfiles changed (-once +twice):\n%s", diff)
		}
	})
}

func deepCopies(workloads []v1alpha1.WorkloadProfile, nodes []v1alpha1.NodeProfile) ([]v1alpha1.WorkloadProfile, []v1alpha1.NodeProfile) {
	w := (&v1alpha1.WorkloadProfileList{Items: workloads}).DeepCopy().Items
	n := (&v1alpha1.NodeProfileList{Items: nodes}).DeepCopy().Items
	return w, n
}

func TestAStatusSharesNothingWithItsProfile(t *testing.T) {
	t.Parallel()
	some := []v1alpha1.WorkloadProfile{given.Workload("web", 0, given.CPU("0.5"))}
	status := profiles.WorkloadProfiles(some, nil, nil, given.Noon)[0]
	some[0].Generation++
	if *status.ObservedGeneration != 3 {
		t.Errorf("the observed generation became %d with the profile's own", *status.ObservedGeneration)
	}
	some[0].Status, some[0].Spec.Selector = status, nil
	if next := profiles.WorkloadProfiles(some, nil, nil, given.Noon)[0]; meta.IsStatusConditionTrue(next.Conditions, v1alpha1.ConditionReady) {
		t.Error("a profile without selector is ready")
	}
	if !meta.IsStatusConditionTrue(some[0].Status.Conditions, v1alpha1.ConditionReady) {
		t.Error("the condition of the profile changed with that of its new status")
	}
}
