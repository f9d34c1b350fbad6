package slaorder

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// waitingPods are the pods that wait to be scheduled, with their classes. It is a
// cache.ResourceEventHandler for an informer of pods. A pod is found without a lock and
// without an allocation: the table by the hash of the UID holds immutable lists, which are
// replaced when pods come, go or change.
type waitingPods struct {
	classes       *classes
	schedulerName string        // whose pods are counted
	maxWait       time.Duration // after which they are overdue
	clock         clock.PassiveClock
	seed          maphash.Seed

	mu    sync.Mutex // of those who write
	table [tableSize]atomic.Pointer[waitingPod]

	reported map[types.NamespacedName]waits // by report, which runs once at a time
}

// tableSize keeps the lists short: one or two pods each where 100,000 wait. It is a power
// of 2.
const tableSize = 1 << 16

// waitingPod is a pod that waits. It is immutable.
type waitingPod struct {
	hash  uint64 // of the UID
	class *class // nil if it has none
	next  *waitingPod
	pod   *corev1.Pod
	since time.Time
}

var _ cache.ResourceEventHandler = &waitingPods{}

func newWaitingPods(known *classes, schedulerName string, maxWait time.Duration, clk clock.PassiveClock) *waitingPods {
	return &waitingPods{classes: known, schedulerName: schedulerName, maxWait: maxWait, clock: clk, seed: maphash.MakeSeed()}
}

// OnAdd takes in a pod that is new to the informer.
func (w *waitingPods) OnAdd(obj any, _ bool) {
	if pod, ok := obj.(*corev1.Pod); ok {
		w.set(pod)
	}
}

// OnUpdate takes in a changed pod.
func (w *waitingPods) OnUpdate(_, obj any) { w.OnAdd(obj, false) }

// OnDelete forgets a pod.
func (w *waitingPods) OnDelete(obj any) {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	if pod, ok := obj.(*corev1.Pod); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.remove(pod.UID)
	}
}

// set keeps a pod for as long as it waits.
func (w *waitingPods) set(pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.get(pod.UID)
	switch {
	case pod.Spec.NodeName != "":
		if old != nil && pod.Spec.SchedulerName == w.schedulerName && w.clock.Since(old.since) >= w.maxWait {
			overduePlaced.Inc()
		}
		w.remove(pod.UID)
	case len(pod.Spec.SchedulingGates) > 0:
		w.remove(pod.UID)
	default:
		next := &waitingPod{hash: w.hash(pod.UID), class: w.classes.of(pod), pod: pod, since: w.clock.Now()}
		if old != nil {
			next.since = old.since
		}
		list := &w.table[next.hash%tableSize]
		next.next = list.Load().without(pod.UID)
		list.Store(next)
	}
}

// classify finds the classes again of all pods of some namespaces.
func (w *waitingPods) classify(namespaces sets.Set[string]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.table {
		if old := w.table[i].Load(); old.in(namespaces) {
			w.table[i].Store(w.classified(old, namespaces))
		}
	}
}

// in reports whether a list has a pod of some namespaces.
func (p *waitingPod) in(namespaces sets.Set[string]) bool {
	for ; p != nil; p = p.next {
		if namespaces.Has(p.pod.Namespace) {
			return true
		}
	}
	return false
}

// classified returns a list in which the pods of some namespaces have their classes as of now.
func (w *waitingPods) classified(list *waitingPod, namespaces sets.Set[string]) (next *waitingPod) {
	for ; list != nil; list = list.next {
		one := *list
		one.next = next
		if namespaces.Has(one.pod.Namespace) {
			one.class = w.classes.of(one.pod)
		}
		next = &one
	}
	return next
}

// report shows in the metrics how many pods of the scheduler wait, by class.
func (w *waitingPods) report() {
	now := w.classes.named(w.count())
	reportWaiting(w.schedulerName, w.reported, now)
	w.reported = now
}

// count returns how many pods of the scheduler wait, by class.
func (w *waitingPods) count() map[*class]waits {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts, now := map[*class]waits{}, w.clock.Now()
	for i := range w.table {
		for p := w.table[i].Load(); p != nil; p = p.next {
			if p.pod.Spec.SchedulerName != w.schedulerName {
				continue
			}
			one := waits{inTime: 1}
			if now.Sub(p.since) >= w.maxWait {
				one = waits{overdue: 1}
			}
			sum := counts[p.class]
			sum.add(one)
			counts[p.class] = sum
		}
	}
	return counts
}

func (w *waitingPods) hash(uid types.UID) uint64 { return maphash.String(w.seed, string(uid)) }

// get returns a pod, nil if it does not wait. It compares hashes only, to stay within few
// lines of the processor's cache: among 100,000 pods, the chance that any two have the
// same is 3e-10, and one of them would be ordered as the other.
func (w *waitingPods) get(uid types.UID) *waitingPod {
	hash := w.hash(uid)
	p := w.table[hash%tableSize].Load()
	for p != nil && p.hash != hash {
		p = p.next
	}
	return p
}

// remove forgets a pod, if it is there.
func (w *waitingPods) remove(uid types.UID) {
	list := &w.table[w.hash(uid)%tableSize]
	list.Store(list.Load().without(uid))
}

// without returns a list without the pod with a UID.
func (p *waitingPod) without(uid types.UID) *waitingPod {
	switch {
	case p == nil:
		return nil
	case p.pod.UID == uid:
		return p.next
	}
	rest := p.next.without(uid)
	if rest == p.next {
		return p
	}
	kept := *p
	kept.next = rest
	return &kept
}
