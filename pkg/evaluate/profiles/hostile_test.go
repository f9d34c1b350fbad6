package profiles_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/profiles"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/test/given"
)

// hostileKey and hostileValue are as long as Kubernetes lets them be, and differ at their ends only.
func hostileKey(i int) string {
	return strings.Repeat("k", 63) + "." + strings.Repeat("k", 63) + "/" + fmt.Sprintf("%s%02d", strings.Repeat("k", 61), i)
}

func hostileValue(i int) string { return fmt.Sprintf("%s%07d", strings.Repeat("v", 56), i) }

// expressions are as many as a selector may have, which match every hostile pod.
func hostileExpressions(of int) []metav1.LabelSelectorRequirement {
	const each = profile.MaxMatchValues / profile.MaxMatchExpressions
	all := make([]metav1.LabelSelectorRequirement, profile.MaxMatchExpressions)
	for k := range all {
		all[k] = metav1.LabelSelectorRequirement{Key: hostileKey(profile.MaxMatchLabels + k), Operator: metav1.LabelSelectorOpNotIn}
		for j := range each {
			all[k].Values = append(all[k].Values, hostileValue(1_000_000+of*each+j))
		}
	}
	return all
}

// hostileSelectors are, by name, the selectors of the i-th profile that are worst to compare with.
var hostileSelectors = map[string]func(i int) *metav1.LabelSelector{
	"empty": func(int) *metav1.LabelSelector { return &metav1.LabelSelector{} },
	"without exact labels": func(i int) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: hostileExpressions(i)}
	},
	"of one family": func(i int) *metav1.LabelSelector {
		s := &metav1.LabelSelector{MatchLabels: map[string]string{}, MatchExpressions: hostileExpressions(i)}
		for k := range profile.MaxMatchLabels {
			s.MatchLabels[hostileKey(k)] = hostileValue(0)
		}
		return s
	},
	"of a shape each": func(i int) *metav1.LabelSelector {
		s := &metav1.LabelSelector{MatchLabels: map[string]string{}, MatchExpressions: hostileExpressions(i)}
		for k := range profile.MaxMatchLabels {
			if i>>k&1 == 0 {
				s.MatchLabels[hostileKey(k)] = hostileValue(0)
			}
		}
		return s
	},
}

// hostileNamespace has profiles with selectors that match each of its pods, and pods of
// which no two have the same labels for any selector.
func hostileNamespace(some, pods int, selector func(i int) *metav1.LabelSelector) ([]v1alpha1.WorkloadProfile, []labels.Set) {
	all := make([]v1alpha1.WorkloadProfile, some)
	for i := range all {
		all[i] = matching(given.Workload(fmt.Sprintf("w-%04d", i), 0, given.CPU("0.5")), selector(i))
	}
	sets := make([]labels.Set, pods)
	for i := range sets {
		sets[i] = labels.Set{}
		for k := range profile.MaxMatchLabels {
			sets[i][hostileKey(k)] = hostileValue(0)
		}
		for k := range profile.MaxMatchExpressions { // values that the first selector names, and no other
			sets[i][hostileKey(profile.MaxMatchLabels+k)] = hostileValue(1_000_000 + (i>>(2*k))%4)
		}
	}
	return all, sets
}

func TestAProfileThatMakesPodsBeComparedWithTooManyIsIgnoredInWords(t *testing.T) {
	t.Parallel()
	some, pods := hostileNamespace(profile.MaxCompared+1, 10, hostileSelectors["without exact labels"])
	statuses := profiles.WorkloadProfiles(some, pods, nil, given.Noon)
	want := "False TooManySelectors: the scheduler ignores this profile: a pod of the namespace would be compared with more than 100 selectors, and older profiles go first; " +
		"add a label to spec.selector.matchLabels that only the pods of this profile have, or delete profiles"
	last := len(statuses) - 1
	if diff := cmp.Diff(want, says(statuses[last].Conditions, v1alpha1.ConditionReady)); diff != "" {
		t.Errorf("unexpected condition (-want +got):\n%s", diff)
	}
	if n := *statuses[last].Pods; n != 0 {
		t.Errorf("%d pods follow it", n)
	}
	if diff := cmp.Diff(used, says(statuses[last-1].Conditions, v1alpha1.ConditionReady)); diff != "" {
		t.Errorf("unexpected condition of an older one (-want +got):\n%s", diff)
	}

	nodes := make([]v1alpha1.NodeProfile, profile.MaxCompared+1)
	for i := range nodes {
		nodes[i] = given.Class(fmt.Sprintf("n-%04d", i), given.GPUs(1))
		nodes[i].Spec.Selector = &metav1.LabelSelector{}
	}
	of := profiles.NodeProfiles(nodes, pods, given.Noon)
	if got := says(of[last].Conditions, v1alpha1.ConditionReady); !strings.HasPrefix(got, "False TooManySelectors: the scheduler ignores this profile: a node of the cluster would be") {
		t.Errorf("the condition of a NodeProfile: %s", got)
	}
}

// The work is what counts: selectors are compared with kinds of pods.
func TestNoMoreThanFiveThousandKindsOfPodsAreLookedAt(t *testing.T) {
	t.Parallel()
	const pods, counted = 5_100, 5_000
	some, all := hostileNamespace(1, pods, hostileSelectors["without exact labels"])
	some[0].Spec.Selector.MatchExpressions[7].Operator = metav1.LabelSelectorOpIn // which all pods match
	for _, e := range some[0].Spec.Selector.MatchExpressions[:7] {
		some = append(some, matching(given.Workload("exists-"+e.Key[len(e.Key)-1:], 0, given.CPU("0.5")),
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: e.Key, Operator: metav1.LabelSelectorOpExists}}}))
	}
	statuses := profiles.WorkloadProfiles(some, all, nil, given.Noon)
	total := int32(0)
	for i := range statuses {
		total += *statuses[i].Pods
	}
	if total != counted {
		t.Errorf("%d pods are counted, want %d", total, counted)
	}
	want := used + "; 100 pods of the namespace are not counted, since selectors tell more than 5000 kinds of pods apart by their labels"
	if diff := cmp.Diff(want, says(statuses[0].Conditions, v1alpha1.ConditionReady)); diff != "" {
		t.Errorf("unexpected condition (-want +got):\n%s", diff)
	}
	slices.Reverse(all)
	if diff := cmp.Diff(statuses, profiles.WorkloadProfiles(some, all, nil, given.Noon)); diff != "" {
		t.Errorf("in another order (-first +second):\n%s", diff)
	}
}

// The pods of StatefulSets and of Jobs differ in labels that no selector asks for.
func TestPodsThatSelectorsCannotTellApartAreCountedWhateverTheirNumber(t *testing.T) {
	t.Parallel()
	const n = 12_000
	all := pods(n, "web")
	for i := range all {
		all[i]["apps.kubernetes.io/pod-index"] = fmt.Sprint(i)
		all[i]["tier"] = fmt.Sprint("tier-", i) // a value that no selector names
	}
	some := []v1alpha1.WorkloadProfile{
		given.Workload("web", 0, given.CPU("0.5")),
		matching(given.Workload("any", 0, given.CPU("0.5")), &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"back"}}}}),
	}
	statuses := profiles.WorkloadProfiles(some, all, nil, given.Noon)
	if got := []int32{*statuses[0].Pods, *statuses[1].Pods}; !slices.Equal(got, []int32{0, n}) {
		t.Errorf("%v pods are counted", got)
	}
	want := fmt.Sprintf("True SelectorOverlap: this profile loses %d pods to any%s", n, advice)
	if diff := cmp.Diff(want, says(statuses[0].Conditions, v1alpha1.ConditionConflicted)); diff != "" {
		t.Errorf("unexpected condition (-want +got):\n%s", diff)
	}
}

// BenchmarkHostileReconcile reports the CPU time of the statuses of the profiles of a namespace that is as bad as can be.
func BenchmarkHostileReconcile(b *testing.B) {
	for name, selector := range hostileSelectors {
		b.Run(name, func(b *testing.B) {
			some, pods := hostileNamespace(1_000, 5_000, selector)
			before := cpuSeconds(b)
			for b.Loop() {
				profiles.WorkloadProfiles(some, pods, nil, given.Noon)
			}
			b.ReportMetric((cpuSeconds(b)-before)/float64(b.N), "cpu-s/op")
		})
	}
}

// cpuSeconds returns the processor time that the process has had.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
