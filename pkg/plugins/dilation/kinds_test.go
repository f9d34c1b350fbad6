package dilation

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/node"
)

// A pod without a profile is of the kind of all that request as much, and one whose profile has no vector yet of that of the
// pods of this profile that do.
func TestPodsThatCountByTheirRequestsAreLookedUp(t *testing.T) {
	t.Parallel()
	unmeasured := workload("unmeasured")
	unmeasured.Spec.Measurement = &v1alpha1.Measurement{}
	d := testPlugin(t, unmeasured, workload("job", demand("disk", 0.5)))
	costs := countCosts(d)
	list := []fwk.NodeInfo{testNode("node", 1, requesting(testPod("there", "none"), "1", ""))}
	scores(t, d, testPod("first", "job"), list) // the node is not new after this
	for name, pod := range map[string]*corev1.Pod{
		"without a profile":       requesting(testPod("new", "none"), "500m", ""),
		"that request more":       requesting(testPod("new", "none"), "700m", ""),
		"that request two CPUs":   requesting(testPod("new", "none"), "2", ""),
		"that have a limit":       requesting(testPod("new", "none"), "500m", "1"),
		"that are not measured":   requesting(testPod("new", "unmeasured"), "500m", ""),
		"that are in a namespace": in("other", requesting(testPod("new", "none"), "300m", "")),
	} {
		before := *costs
		for range 3 {
			scores(t, d, pod.DeepCopy(), list)
		}
		if n := *costs - before; n != 1 {
			t.Errorf("of three pods %s the costs of %d were found, want 1", name, n)
		}
	}
}

// Where each pod requests something else, what is known for kinds of which there are many stays, and the memory is bounded.
func TestPodsOfAKindOfTheirOwnLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	const kinds = 20
	d := testPlugin(t, workload("job", demand("cpu", 0.5)))
	costs := countCosts(d)
	node := testNode("node", 1, testPod("there", "job"))
	list := []fwk.NodeInfo{node}
	requests := 0
	score := func(request string, app string) { scores(t, d, requesting(testPod("new", app), request, ""), list) }
	round := func() {
		for k := range kinds {
			score(fmt.Sprintf("%dm", 100+k), "job")
			score(fmt.Sprintf("%dm", 1000+requests), "none")
			requests++
		}
	}
	for range 10 {
		round()
	}
	before := *costs
	for range 10 {
		round()
	}
	if n := *costs - before; n != 10*kinds {
		t.Errorf("%d costs were found for %d pods of a kind of their own, beside others", n, 10*kinds)
	}
	if n := len(d.known(t, node).found); n != maxPerNode {
		t.Errorf("%d findings are kept, want %d", n, maxPerNode)
	}
}

func TestKindsAndOutcomesThatAreKeptAreBounded(t *testing.T) {
	t.Parallel()
	k := newKinds()
	n := func(i int) *candidate { return &candidate{hold: float64(i)} }
	first := k.number(n(0))
	for i := range maxKinds {
		k.number(n(i + 1))
		if i == maxKinds/2 && k.number(n(0)) != first {
			t.Error("a kind has another number while there is room")
		}
	}
	if k.number(n(1)) == k.number(n(0)) || k.number(n(0)) != first {
		t.Error("a kind that was used last is not kept")
	}
	for i := range maxOutcomes + 1 {
		k.outcome(fmt.Sprint(i), func() *outcome { return &outcome{} })
	}
	if kinds, outcomes := k.of.Len(), k.outcomes.Len(); kinds != maxKinds || outcomes != maxOutcomes {
		t.Errorf("%d kinds and %d outcomes are kept, want %d and %d", kinds, outcomes, maxKinds, maxOutcomes)
	}
	none := &outcome{}
	solve := func() *outcome { return none }
	if k.outcome("2", solve) == none || k.outcome("0", solve) != none {
		t.Error("the outcome that was used first is not the one that went")
	}
}

// However many goroutines of a cycle come to nodes that are alike at the same time, one of them works out how they fare.
func TestNodesThatAreAlikeAreWorkedOutOnceAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKinds()
		var solved atomic.Int32
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				o := k.outcome("alike", func() *outcome {
					solved.Add(1)
					<-time.After(time.Second) // of the bubble: when all others wait, too
					return &outcome{Verdict: node.Verdict{Extremes: node.Extremes{Own: 2}}}
				})
				if o.Own != 2 {
					t.Errorf("a node's outcome is %+v", o)
				}
			})
		}
		group.Wait()
		if n := solved.Load(); n != 1 {
			t.Errorf("worked out %d times, want once", n)
		}
	})
}
