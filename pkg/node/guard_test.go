package node_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

func TestALabelOfANamespaceIsAMode(t *testing.T) {
	t.Parallel()
	type answer struct {
		Mode  configv1alpha1.GuardMode
		Valid bool
	}
	for label, want := range map[string]answer{
		"off": {configv1alpha1.GuardOff, true}, "warn": {configv1alpha1.GuardWarn, true}, "enforce": {configv1alpha1.GuardEnforce, true},
		"Enforce": {"", false}, "": {"", false},
	} {
		mode, valid := node.GuardModeOf(map[string]string{v1alpha1.GuardLabel: label})
		if got := (answer{mode, valid}); got != want {
			t.Errorf("%q: got %+v, want %+v", label, got, want)
		}
	}
	if mode, valid := node.GuardModeOf(nil); mode != "" || !valid {
		t.Errorf("without the label: %q, %t", mode, valid)
	}
}

// always grants all steps, and never none.
func always(float64) bool { return true }
func never(float64) bool  { return false }

// bounded returns a node whose pods have these bounds.
func bounded(n *node.Node, bounds ...node.Bound) *node.Node {
	other := *n
	other.Pods = slices.Clone(n.Pods)
	for j, bound := range bounds {
		other.Pods[j].Bound = bound
	}
	return &other
}

// judge returns the verdict on the last of some pods with these bounds.
func judge(n *node.Node, granted node.Budget, bounds ...node.Bound) *node.Verdict {
	last := len(n.Pods) - 1
	all := bounded(n, bounds...)
	g := node.Guard{Node: all.Without(last)}
	return g.Judge(all.Pods[last], 0, granted)
}

// excesses returns what exceeds its bound on a node of one core, of which the last pod is the candidate.
func excesses(t *testing.T, n *node.Node, bounds ...node.Bound) []node.Excess {
	t.Helper()
	v := judge(n, always, bounds...)
	if v.Bounded {
		t.Error("the node is not worked out")
	}
	return v.Excesses
}

// Three equal pods that always run take three times as long as alone, and two twice.
func TestWhoExceedsABoundBecauseOfANewcomer(t *testing.T) {
	t.Parallel()
	enforce, warn := configv1alpha1.GuardEnforce, configv1alpha1.GuardWarn
	three := one("100m", "100m", "100m")
	got := excesses(t, three, node.Bound{Max: 2, Mode: warn}, node.Bound{Max: 1.5, Mode: enforce}, node.Bound{Max: 2.5, Mode: enforce})
	var pods []int
	for _, e := range got {
		pods = append(pods, e.Pod)
		if math.Abs(e.Dilation-3) > 1e-6 || e.Resource != 0 {
			t.Errorf("got %+v", e)
		}
	}
	if diff := cmp.Diff([]int{1, 0, 2}, pods); diff != "" {
		t.Errorf("the one furthest above its bound does not come first (-want +got):\n%s", diff)
	}
	if e := (&node.Verdict{Excesses: got}).Refusing(); e == nil || e.Pod != 1 {
		t.Errorf("the node is refused for %+v", e)
	}
	if v := (&node.Verdict{Excesses: got[1:2]}); v.Refusing() != nil || !v.Takes() {
		t.Errorf("a bound that is only warned of refuses the node: %+v", v)
	}
	if got := excesses(t, three, node.Bound{Max: 3, Mode: enforce}, node.Bound{}, node.Bound{Max: 3, Mode: enforce}); got != nil {
		t.Errorf("bounds that are kept exactly: %+v", got)
	}

	idle := one("100m", "100m", "100m")
	idle.Pods[2].Vector = vector(0)
	if got := excesses(t, idle, node.Bound{Max: 1.5, Mode: enforce}, node.Bound{}, node.Bound{}); got != nil {
		t.Errorf("a candidate that makes it no worse: %+v", got)
	}
}

func TestWhereOnlyBoundsAreKnownAPromiseThatRequestsDoNotWarrantKeepsNoPodAway(t *testing.T) {
	t.Parallel()
	bound := node.Bound{Max: 1.5, Mode: configv1alpha1.GuardEnforce}
	for name, test := range map[string]struct {
		requests []string // of pods that want a core all the time; the last is the candidate
		bounds   []node.Bound
		want     []int
	}{
		"a pod that requests enough before, and too little after": {[]string{"500m", "100m", "500m"}, []node.Bound{bound, {}, {}}, []int{0}},
		"a pod that requests enough":                              {[]string{"900m", "100m", "100m"}, []node.Bound{bound, {}, {}}, nil},
		"a pod that requested too little before":                  {[]string{"1m", "100m", "500m"}, []node.Bound{bound, {}, {}}, nil},
		"a candidate that requests too little":                    {[]string{"500m", "100m", "1m"}, []node.Bound{{}, {}, bound}, []int{2}},
		"a candidate that requests enough":                        {[]string{"100m", "100m", "600m"}, []node.Bound{{}, {}, bound}, nil},
	} {
		n := one(test.requests...)
		n.System.Allocatable = 0
		var got []int
		for _, e := range judge(n, never, test.bounds...).Excesses {
			if !e.Bounded || e.Resource >= 0 || e.Because >= 0 || !strings.HasPrefix(e.Reason("it", "3×", nil, nil), "might slow it down up to 3×, more than its limit of 1.50×") {
				t.Errorf("%s: %+v: %s", name, e, e.Reason("it", "3×", nil, nil))
			}
			got = append(got, e.Pod)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// No error of what the neighbours are like refuses a node: pods that no kubelet runs count by their weights.
func TestANodeWhoseControlGroupsAreUnknownHasAnOutlookAllTheSame(t *testing.T) {
	t.Parallel()
	n := one("900m", "100m")
	n.Pods[1].Spec.Containers = nil
	if _, err := n.Predict(); err == nil {
		t.Fatal("the node can be predicted")
	}
	o := n.Outlook(node.Granted)
	if want := 36.25 / 36; !o.Bounded() || math.Abs(o.Dilations[0]-want) > 0.01 { // weights of 35 and, for BestEffort, 0.25
		t.Errorf("got %+v, want %v", o.Dilations, want)
	}
	if got := n.Estimate(); !cmp.Equal(got, o.Dilations) {
		t.Errorf("estimated to be %v", got)
	}
}

func TestANodeThatWouldTakeLongIsBounded(t *testing.T) {
	t.Parallel()
	var requests []string
	for range 300 {
		requests = append(requests, "10m")
	}
	n := one(requests...)
	for j := range n.Pods {
		n.Pods[j].Vector = vector(1 - float64(j)/1000)
	}
	o := n.Outlook(node.Granted)
	for j, dilation := range o.Dilations {
		if !o.Bounded() || dilation < 150 || dilation > 301 {
			t.Errorf("pod %d: at most %v", j, dilation)
		}
	}
}

// raise returns the higher bound that would be enough where some of a number of pods follow the profile of the candidate.
func raise(excesses []node.Excess, pods int, followers map[int]bool) float64 {
	candidate, n := &node.Pod{Workload: &profile.Workload{}}, &node.Node{Pods: make([]node.Pod, pods)}
	for j := range followers {
		n.Pods[j].Workload = candidate.Workload
	}
	return (&node.Verdict{Excesses: excesses}).Refusal(n, candidate, nil).Raise
}

func TestAHigherBoundIsEnoughOnlyForPodsOfTheProfile(t *testing.T) {
	t.Parallel()
	bound := node.Bound{Max: 1.5, Mode: configv1alpha1.GuardEnforce}
	all := []node.Excess{{Pod: 1, Dilation: 1.5, Worst: 1.7, Bound: bound}, {Pod: 0, Dilation: 1.6, Worst: 1.6, Bound: bound}, {Pod: 2, Dilation: 9, Worst: 9, Bound: node.Bound{Max: 2, Mode: configv1alpha1.GuardWarn}}}
	for name, test := range map[string]struct {
		followers map[int]bool
		want      float64
	}{"all": {map[int]bool{0: true, 1: true}, 1.7}, "another profile": {map[int]bool{1: true}, 0}} {
		if got := raise(all, 3, test.followers); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestWhatWouldMakeRoomIsSaidOfTheNodesThatAreNearestToABound(t *testing.T) {
	t.Parallel()
	bound := node.Bound{Max: 1.5, Mode: configv1alpha1.GuardEnforce}
	var r node.Refusals
	refuse := func(name string, dilation, raise float64, slowed, because int, takes bool) {
		r.Add(&node.Refusal{
			Node: &node.Node{Name: name, Pods: []node.Pod{{Pod: pod(name, "")}}}, Raise: raise, Takes: func(int) bool { return takes },
			Excess: &node.Excess{Pod: slowed, Dilation: dilation, Bound: bound, Cause: node.Cause{Because: because}},
		})
	}
	refuse("far", 9, 9, 1, 0, true)
	refuse("crowded", 2, 0, 0, 0, false)
	refuse("near", 1.61, 1.61, 1, 0, true)
	refuse("itself", 1.8, 0, 1, 1, true)   // the candidate waits for its own threads
	refuse("resident", 1.7, 0, 0, 1, true) // a pod there waits for the candidate
	want := []string{"near without shop/near", "resident without shop/resident", "sla.maxDilation of at least 1.7 for it (now 1.50)"}
	got := r.Room(node.Promise{MaxDilation: 1.5, Counted: 1.5, Mode: configv1alpha1.GuardEnforce, Covered: 1})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := r.Room(node.Promise{MaxDilation: 1.5, Counted: 1.5, Mode: configv1alpha1.GuardWarn, Covered: 1}); len(got) != 2 {
		t.Errorf("a bound that refuses nothing is to be raised: %v", got)
	}
	if line := node.RoomLine(got[:2]); line != "What would make room: near without shop/near, or resident without shop/resident." || node.RoomLine(nil) != "" {
		t.Errorf("got %q", line)
	}
}
