package dilation

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/price"
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
			solved := func() (*outcome, bool) {
				to := *o
				to.Excesses = slices.Clone(o.Excesses)
				for i := range to.Excesses {
					to.Excesses[i].Gone = slices.Clone(o.Excesses[i].Gone)
				}
				return &to, true
			}
			key := func(i int) string { return fmt.Sprintf("%0*d", 8+pods, i) }
			fit := int(maxCommonBytes / k.outcomes.takes(key(0), o))
			before := live()
			for i := range fit {
				k.outcomes.of(key(i), solved)
			}
			if took := live() - before; took < maxCommonBytes/3 || took > maxCommonBytes*3/2 {
				t.Errorf("%d outcomes take %d bytes", fit, took)
			}
			none := &outcome{}
			other := func() (*outcome, bool) { return none, true }
			if k.outcomes.of(key(0), other) == none {
				t.Error("one is gone while there is room")
			}
			k.outcomes.of(key(fit), solved)
			if n := k.outcomes.Len(); n != fit {
				t.Errorf("%d outcomes are kept, want %d", n, fit)
			}
			if k.outcomes.of(key(0), other) == none || k.outcomes.of(key(1), other) != none {
				t.Error("the outcome that was used first is not the one that went")
			}
			k.begin(version{nodes: 1})
			if n, bytes := k.outcomes.Len(), k.outcomes.bytes.Load(); n != 0 || bytes != 0 {
				t.Errorf("of another version, %d outcomes of %d bytes are kept", n, bytes)
			}
		})
	}
}

func TestNodesThatAreAlikeHaveTheirPricesInCommon(t *testing.T) {
	t.Parallel()
	fast := nodeProfile(map[string]int{"cpu": 4})
	fast.Name, fast.Spec.Selector = "fast", &metav1.LabelSelector{MatchLabels: map[string]string{"class": "fast"}}
	withGPU := gpuProfile(2, v1alpha1.SharingTimeSliced)
	withGPU.Name, withGPU.Spec.Selector = "gpu", &metav1.LabelSelector{MatchLabels: map[string]string{"class": "gpu"}}
	d := testPlugin(t, fast, withGPU, workload("web", demand("cpu", 0.5)), workload("job", demand("cpu", 0.8), demand("disk", 0.1)))
	web := func(name string) *corev1.Pod { return requesting(testPod(name, "web"), "100m", "") }
	job := func(name string) *corev1.Pod { return requesting(testPod(name, "job"), "2", "") }
	of := func(cores int, class string, pods ...*corev1.Pod) *price.Prices {
		node := testNode("node", cores, pods...)
		node.Node().Labels = map[string]string{"class": class}
		r := newResidents(d.modes, d.kinds, &cycle{snapshot: d.index.Snapshot()}, node, nil)
		shared, own := priceNode(t.Context(), r).prices, r.price(t.Context())
		for _, pod := range []*corev1.Pod{web("new"), job("new")} {
			candidate := d.index.Snapshot().Candidate(r.class, pod)
			if got, want := shared.Of(candidate), own.Of(candidate); math.Abs(got-want) > 1e-12*(1+want) {
				t.Errorf("with %d cores of class %q and %d pods a pod costs %v, want %v", cores, class, len(pods), got, want)
			}
		}
		return shared
	}
	first := of(4, "", web("a"), job("b"), web("c"))
	if of(4, "", job("d"), web("e"), web("f")) != first {
		t.Error("nodes with the same pods in another order have prices of their own")
	}
	for name, others := range map[string]*price.Prices{
		"fewer pods": of(4, "", web("a"), job("b")), "as many pods of another kind": of(4, "", web("a"), job("b"), job("c")),
		"other requests": of(4, "", web("a"), job("b"), requesting(testPod("c", "web"), "1", "")),
		"more cores":     of(8, "", web("a"), job("b"), web("c")), "another class": of(4, "fast", web("a"), job("b"), web("c")),
		"a GPU": of(4, "gpu", web("a"), job("b"), web("c")),
	} {
		if others == first {
			t.Errorf("a node with %s has the same prices", name)
		}
	}
	if of(4, "gpu", web("a")) == of(4, "gpu", web("b")) {
		t.Error("nodes whose devices may be assigned in other ways have prices in common")
	}
	d.kinds.begin(version{nodes: 1 << 40})
	if n := d.kinds.prices.Len(); n != 0 || of(4, "", web("a"), job("b"), web("c")) == first {
		t.Errorf("%d prices of another version are kept", n)
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
				o := k.outcomes.of("alike", func() (*outcome, bool) {
					solved.Add(1)
					<-time.After(time.Second) // of the bubble: when all others wait, too
					return &outcome{Verdict: node.Verdict{Extremes: node.Extremes{Own: 2}}}, true
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
