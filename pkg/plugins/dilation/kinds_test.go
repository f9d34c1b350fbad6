package dilation

import (
	"fmt"
	"runtime"
	"slices"
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
	if kinds := k.of.Len(); kinds != maxKinds {
		t.Errorf("%d kinds are kept, want %d", kinds, maxKinds)
	}
}

// What is kept of nodes is bounded by what it takes, whatever the number of their pods.
func TestOutcomesThatAreKeptAreBounded(t *testing.T) {
	for name, pods := range map[string]int{"of no excess": 0, "of nodes with 30 pods": 30, "of nodes with 10,000 pods": 10_000} {
		t.Run(name, func(t *testing.T) {
			k := newKinds()
			o := &outcome{Verdict: node.Verdict{Excesses: make([]node.Excess, pods)}}
			for i := range o.Excesses {
				o.Excesses[i].Gone = []int{i}
			}
			solved := func() *outcome {
				to := *o
				to.Excesses = slices.Clone(o.Excesses)
				for i := range to.Excesses {
					to.Excesses[i].Gone = slices.Clone(o.Excesses[i].Gone)
				}
				return &to
			}
			key := func(i int) string { return fmt.Sprintf("%0*d", 8+pods, i) }
			fit := int(maxOutcomeBytes / o.bytes(key(0)))
			before := live()
			for i := range fit {
				k.outcome(key(i), solved)
			}
			if took := live() - before; took < maxOutcomeBytes/3 || took > maxOutcomeBytes*3/2 {
				t.Errorf("%d outcomes take %d bytes", fit, took)
			}
			none := &outcome{}
			if k.outcome(key(0), func() *outcome { return none }) == none {
				t.Error("one is gone while there is room")
			}
			k.outcome(key(fit), solved)
			if n := k.outcomes.Len(); n != fit {
				t.Errorf("%d outcomes are kept, want %d", n, fit)
			}
			if k.outcome(key(0), func() *outcome { return none }) == none || k.outcome(key(1), func() *outcome { return none }) != none {
				t.Error("the outcome that was used first is not the one that went")
			}
			k.begin(version{nodes: 1})
			if n, bytes := k.outcomes.Len(), k.outcomes.bytes.Load(); n != 0 || bytes != 0 {
				t.Errorf("of another version, %d outcomes of %d bytes are kept", n, bytes)
			}
		})
	}
}

// live returns how many bytes are live in the heap.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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
