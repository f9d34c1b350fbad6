package slaorder

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/config"
)

func TestPriorityDecidesBeforeClassesAndWaiting(t *testing.T) {
	t.Parallel()
	o := newTested(config.HOL, 60, 3600, promising("strict", 3, 0.9))
	o.before(t,
		queued(pod("high", "none", 2), 500, 500),
		queued(pod("overdue", "strict", 1), 0, 400),
		queued(pod("strict", "strict", 1), 400, 400),
		queued(pod("low", "strict", 0), 0, 400),
	)
}

// Where kube-scheduler places groups of pods as a whole, these are in the queue in place of their pods.
func TestAGroupGoesByItsPriorityAndTheClassOfItsFirstPod(t *testing.T) {
	t.Parallel()
	o := newTested(config.HOL, 60, 3600, promising("strict", 3, 0.9), promising("loose", 5, 0.8))
	order := []fwk.QueuedEntityInfo{
		queuedGroup(2, 9, pod("of a high group", "none", 0)),
		queuedGroup(1, 8, pod("strict-0", "strict", 0), pod("loose-0", "loose", 0)),
		queued(pod("loose", "loose", 1), 1, 1),
		queuedGroup(1, 2, pod("loose-1", "loose", 0), pod("strict-1", "strict", 0)),
		queuedGroup(1, 3),
		queued(pod("none", "none", 1), 4, 4),
	}
	for i, a := range order {
		for j, b := range order {
			if got := o.Less(a, b); got != (i < j) {
				t.Errorf("whether %d goes before %d: %v", i, j, got)
			}
		}
	}
}

func TestHOLTakesTheMoreDemandingSLAFirst(t *testing.T) {
	t.Parallel()
	unknown := promising("unknown", 3, 0.9)
	unknown.Spec.NeutralMillis = nil
	dilated := promising("dilated", 3, 0.9)
	dilated.Spec.SLA.ResponseTimeMillis, dilated.Spec.SLA.Probability = nil, nil
	dilated.Spec.SLA.MaxDilation = new(resource.MustParse("1.5"))
	o := newTested(config.HOL, 60, 3600,
		promising("loose", 5, 0.8), promising("strict", 3, 0.94), promising("infeasible", 1, 0.95), unknown, dilated)
	o.before(t,
		queued(pod("infeasible", "infeasible", 0), 5, 5),
		queued(pod("strict", "strict", 0), 4, 4),
		queued(pod("loose", "loose", 0), 3, 3),
		queued(pod("no neutral time", "unknown", 0), 2, 2),
		queued(pod("no response time", "dilated", 0), 0, 0),
		queued(pod("no profile", "none", 0), 1, 1),
	)
	// What was attained does not matter to it.
	o.ends("loose", 0, 10)
	o.before(t, queued(pod("strict", "strict", 0), 1, 1), queued(pod("loose", "loose", 0), 0, 0))
}

func TestPDPTakesTheClassFurthestBehindItsSLAFirst(t *testing.T) {
	t.Parallel()
	o := newTested(config.PDP, 1000, 600, promising("a", 3, 0.9), promising("b", 3, 0.5), promising("c", 3, 0.9))
	a, b, c := queued(pod("a", "a", 0), 3, 3), queued(pod("b", "b", 0), 2, 2), queued(pod("c", "c", 0), 1, 1)
	none := queued(pod("none", "none", 0), 0, 0)
	o.before(t, c, b, a, none) // nothing is known: in order of waiting
	o.ends("a", 8, 2)          // P = 0.1
	o.ends("b", 3, 7)          // P = 0.2
	o.before(t, b, a, c, none)
	o.ends("b", 20, 0) // P = 0.5 − 23/30
	o.before(t, a, c, b, none)
	o.ends("c", 0, 1) // P = 0.9
	o.before(t, c, a, b, none)
	o.clock.SetTime(at(700)) // the window has passed
	o.update()
	o.before(t, c, b, a, none)
}

func TestPodsOfOneClassGoInOrderOfWaiting(t *testing.T) {
	t.Parallel()
	o := newTested(config.PDP, 60, 3600, promising("a", 3, 0.9))
	first, second := queued(pod("z", "a", 0), 1, 8), queued(pod("y", "a", 0), 2, 7)
	o.before(t, first, second)
	if twin := queued(pod("a", "a", 0), 1, 1); o.Less(first, twin) || o.Less(twin, first) {
		t.Error("of two pods that were queued together, one goes before the other")
	}
}

func TestOverduePodsGoInOrderOfWaitingBeforeAllClasses(t *testing.T) {
	t.Parallel()
	o := newTested(config.HOL, 60, 3600, promising("loose", 5, 0.8), promising("strict", 3, 0.94))
	o.before(t,
		queued(pod("overdue, no profile", "none", 0), 30, 90),
		queued(pod("overdue, loose", "loose", 0), 31, 110),
		queued(pod("overdue, strict", "strict", 0), 32, 95),
		queued(pod("strict", "strict", 0), 100, 100),
		queued(pod("loose, nearly", "loose", 0), 50, 109.9),
	)
}

func TestAPodThatWasGatedBeginsToWaitWhenItIsQueued(t *testing.T) {
	t.Parallel()
	o := newTested(config.HOL, 60, 3600, promising("strict", 3, 0.94))
	gated := queued(pod("gated", "none", 0), 1000, 0)
	o.before(t, queued(pod("strict", "strict", 0), 1001, 1001), gated)
	gated.InitialAttemptTimestamp = nil
	o.before(t, gated, queued(pod("strict", "strict", 0), 1001, 1001))
}

func TestAChangedProfileCountsWithTheNextUpdate(t *testing.T) {
	t.Parallel()
	loose, strict := promising("loose", 5, 0.8), promising("strict", 3, 0.94)
	o := newTested(config.HOL, 60, 3600, loose, strict)
	a, b := queued(pod("loose", "loose", 0), 1, 1), queued(pod("strict", "strict", 0), 1, 1)
	o.before(t, b, a)
	stricter := promising("loose", 2.9, 0.94)
	stricter.Generation = 2
	o.index.OnUpdate(loose, stricter)
	o.update()
	o.before(t, a, b)
	o.index.OnDelete(stricter)
	o.update()
	o.before(t, b, a)
	o.ends("loose", 1, 1) // it has no class any more
}

func TestWhatAClassAttainedStaysWhileItsTimeDoes(t *testing.T) {
	t.Parallel()
	before := promising("a", 3, 0.9)
	o := newTested(config.PDP, 60, 3600, before)
	o.ends("a", 1, 1)
	p := func() float64 { return o.classOf(pod("x", "a", 0)).urgency() }
	after := promising("a", 3, 0.7)
	after.Generation = 2
	o.index.OnUpdate(before, after)
	o.update()
	if got := p(); math.Abs(got-0.2) > 1e-12 {
		t.Errorf("P = %v with another probability, want 0.2", got)
	}
	sooner := promising("a", 2, 0.7)
	sooner.Generation = 3
	o.index.OnUpdate(after, sooner)
	o.update()
	if got := p(); got != 0 {
		t.Errorf("P = %v with another time, want 0", got)
	}
}

// drawn draws a plugin in some state, and some pods in its queue.
func drawn(t *rapid.T) (*tested, []*framework.QueuedPodInfo) {
	d := rapid.SampledFrom([]config.Discipline{config.HOL, config.PDP}).Draw(t, "discipline")
	o := newTested(d, 60, 3600, promising("a", 3, 0.9), promising("b", 3, 0.9), promising("c", 5, 0.8), promising("d", 1, 0.9))
	for _, app := range []string{"a", "b", "c", "d"} {
		o.ends(app, rapid.IntRange(0, 3).Draw(t, "in time"), rapid.IntRange(0, 3).Draw(t, "late"))
	}
	var pods []*framework.QueuedPodInfo
	for i := range rapid.IntRange(3, 12).Draw(t, "pods") {
		p := pod(fmt.Sprintf("pod-%d", i), rapid.SampledFrom([]string{"a", "b", "c", "d", "none"}).Draw(t, "app"), rapid.Int32Range(0, 1).Draw(t, "priority"))
		first := float64(rapid.IntRange(-60, 180).Draw(t, "queued"))
		info := queued(p, first, first+float64(rapid.IntRange(-60, 180).Draw(t, "tried")))
		if rapid.Bool().Draw(t, "seen") {
			o.seen(info)
		}
		pods = append(pods, info)
	}
	return o, pods
}

func TestTheOrderIsAStrictWeakOneAtEachMoment(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o, pods := drawn(t)
		equal := func(a, b *framework.QueuedPodInfo) bool { return !o.Less(a, b) && !o.Less(b, a) }
		for _, a := range pods {
			if o.Less(a, a) {
				t.Fatal("a pod goes before itself")
			}
			for _, b := range pods {
				if o.Less(a, b) && o.Less(b, a) {
					t.Fatal("two pods go before each other")
				}
				for _, c := range pods {
					if o.Less(a, b) && o.Less(b, c) && !o.Less(a, c) {
						t.Fatal("a before b before c, and not a before c")
					}
					if equal(a, b) && equal(b, c) && !equal(a, c) {
						t.Fatal("a equals b equals c, and a does not equal c")
					}
				}
			}
		}
	})
}

// The bounds of the package comment.
func TestNoPodGoesBeforeOneThatWaitedTwiceTheMaximumLonger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o, pods := drawn(t)
		for _, x := range pods {
			for _, y := range pods {
				if *x.Pod.Spec.Priority != *y.Pod.Spec.Priority || !o.Less(y, x) {
					continue
				}
				wait := y.InitialAttemptTimestamp.Sub(*x.InitialAttemptTimestamp).Seconds()
				if wait >= 120 {
					t.Fatalf("a pod that was queued %v s later goes before", wait)
				}
				if x.Timestamp.Sub(*x.InitialAttemptTimestamp).Seconds() >= 60 && wait >= 60 {
					t.Fatalf("a pod that was queued %v s later goes before one that is overdue", wait)
				}
			}
		}
	})
}

func TestLessTakesNoMemory(t *testing.T) { // not parallel: it counts allocations
	o := newTested(config.PDP, 60, 3600, promising("a", 3, 0.9), promising("b", 3, 0.9))
	a, b := queued(pod("a", "a", 0), 1, 1), queued(pod("b", "b", 0), 1, 1)
	o.seen(a, b)
	if n := testing.AllocsPerRun(100, func() { o.Less(a, b) }); n > 0 {
		t.Errorf("Less allocates %v times", n)
	}
}

func TestOnlyPodsThatWaitAreKept(t *testing.T) {
	t.Parallel()
	o := newTested(config.PDP, 60, 3600, promising("a", 3, 0.9))
	kept := func() int {
		n := 0
		for i := range o.waiting.table {
			for p := o.waiting.table[i].Load(); p != nil; p = p.next {
				n++
			}
		}
		return n
	}
	const many = 6000 // so that some lists hold several: 6000²/2/65536 pairs share one
	pods := make([]*corev1.Pod, many)
	for i := range pods {
		pods[i] = pod(fmt.Sprint(i), "a", 0)
		o.waiting.OnAdd(pods[i], true)
		o.waiting.OnUpdate(pods[i], pods[i])
	}
	if n := kept(); n != many {
		t.Errorf("%d pods are kept of %d that wait", n, many)
	}
	for i, p := range pods {
		switch i % 3 {
		case 0:
			bound := p.DeepCopy()
			bound.Spec.NodeName = "node"
			o.waiting.OnUpdate(p, bound)
			o.waiting.OnUpdate(bound, bound)
		case 1:
			gated := p.DeepCopy()
			gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
			o.waiting.OnUpdate(p, gated)
		default:
			o.waiting.OnDelete(p)
			o.waiting.OnDelete(p)
		}
		if o.waiting.get(p.UID) != nil {
			t.Fatalf("pod %d is still kept", i)
		}
	}
	if n := kept(); n != 0 {
		t.Errorf("%d pods are kept, and none waits", n)
	}
}

func TestAPodWithAnotherLabelHasAnotherClass(t *testing.T) {
	t.Parallel()
	o := newTested(config.HOL, 60, 3600, promising("a", 3, 0.9), promising("b", 5, 0.9))
	p := pod("p", "a", 0)
	o.waiting.OnAdd(p, false)
	relabelled := pod("p", "b", 0)
	o.waiting.OnUpdate(p, relabelled)
	if got := o.classOf(relabelled).Name; got != "b" {
		t.Errorf("its class is %s, want b", got)
	}
}

// It is for the race detector: the queue compares pods while informers report changes of
// pods and profiles, and pods end.
func TestTheOrderIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	a := promising("a", 3, 0.9)
	o := newTested(config.PDP, 60, 3600, a, promising("b", 3, 0.9))
	var pods []*framework.QueuedPodInfo
	for i := range 50 {
		pods = append(pods, queued(pod(fmt.Sprint(i), []string{"a", "b", "none"}[i%3], 0), float64(i), float64(i)))
	}
	var group sync.WaitGroup
	for _, change := range []func(i int){
		func(i int) { o.Less(pods[i%50], pods[(i+7)%50]) },
		func(i int) { o.waiting.OnAdd(pods[i%50].Pod, false) },
		func(i int) { o.waiting.OnDelete(pods[(i+25)%50].Pod) },
		func(int) { o.ends("a", 1, 1) },
		func(i int) {
			next := a.DeepCopy()
			next.Generation = int64(i) + 2
			o.index.OnUpdate(a, next)
			o.update()
		},
	} {
		group.Go(func() {
			for i := range 200 {
				change(i)
			}
		})
	}
	group.Wait()
}

func TestThePluginDoesNotStartWithArgumentsThatItRefuses(t *testing.T) {
	t.Parallel()
	plugin, err := New(t.Context(), &runtime.Unknown{Raw: []byte(`{"discipline": "FIFO"}`)}, nil)
	if plugin != nil || err == nil || !strings.Contains(err.Error(), `discipline: Unsupported value: "FIFO"`) {
		t.Errorf("it starts: %v, %v", plugin, err)
	}
}
