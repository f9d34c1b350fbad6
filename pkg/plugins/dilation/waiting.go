package dilation

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/model/loading"
)

// waiting are the pods that no node takes because of bounds, or that are held. It is the handler of an informer of pods,
// from which it learns which are gone.
//
// Pods are tried again by events: see [Dilation.EventsToRegister] for those that the scheduler knows. Changes of profiles
// and of namespaces it does not know, and for these, at a pace (see pace), and when a pod has waited for long enough, the pods
// are activated, which leaves their backoff out.
type waiting struct {
	activator fwk.PodActivator // nil where there is no scheduler
	log       klog.Logger
	wake      chan struct{} // of room for one

	mu   sync.Mutex
	pods map[types.UID]*waitingPod
	held int // of them
	pace pace
}

// waitingPod is one of them.
type waitingPod struct {
	pod *corev1.Pod
	// vector is its vector, nil if it has several, and ownOnly whether it is by its own dilation alone that nodes were refused.
	vector  loading.Vector
	ownOnly bool
	// since is when it was first held, zero if it was not, and timer runs until it has been held for long enough.
	since time.Time
	timer *time.Timer
}

var _ cache.ResourceEventHandler = &waiting{}

func newWaiting(activator fwk.PodActivator, log klog.Logger) *waiting {
	return &waiting{activator: activator, log: log, wake: make(chan struct{}, 1), pods: map[types.UID]*waitingPod{}}
}

// add takes in a pod after a cycle in which no node took it. It may be held for as long as that says, 0 for any time.
func (w *waiting) add(pod *corev1.Pod, c *cycle, maxWait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pods[pod.UID]
	if p == nil {
		p = &waitingPod{}
		w.pods[pod.UID] = p
	}
	p.pod, p.vector, p.ownOnly = pod, c.candidate.anywhere(), c.refusals.others == 0
	if c.refusals.held > 0 && p.since.IsZero() {
		p.since = time.Now()
		w.held++
		if maxWait > 0 {
			p.timer = time.AfterFunc(maxWait, func() { w.activate(pod.UID) })
		}
	}
	w.report()
}

// vector returns the vector of a pod that waits, and whether it is by its own dilation alone that nodes were refused.
func (w *waiting) vector(uid types.UID) (v loading.Vector, ownOnly bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pods[uid]
	if p == nil {
		return nil, false
	}
	return p.vector, p.ownOnly
}

// holds reports whether a pod may be held, for as long as that says.
func (w *waiting) holds(uid types.UID, maxWait time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pods[uid]
	return p == nil || p.since.IsZero() || maxWait == 0 || time.Since(p.since) < maxWait
}

// remove forgets a pod that was placed, or is gone.
func (w *waiting) remove(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pods[uid]
	if p == nil {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	if !p.since.IsZero() {
		w.held--
	}
	delete(w.pods, uid)
	w.report()
}

// report counts the pods, for the metrics. It must be called with the lock.
func (w *waiting) report() {
	waitingPods.WithLabelValues(byHold).Set(float64(w.held))
	waitingPods.WithLabelValues(byGuard).Set(float64(len(w.pods) - w.held))
}

// activate has one of the pods tried again.
func (w *waiting) activate(uid types.UID) {
	w.mu.Lock()
	p := w.pods[uid]
	w.mu.Unlock()
	if p != nil && w.activator != nil {
		w.activator.Activate(w.log, map[string]*corev1.Pod{p.pod.Namespace + "/" + p.pod.Name: p.pod})
	}
}

// activateAll has all pods tried again.
func (w *waiting) activateAll() {
	w.mu.Lock()
	pods := make(map[string]*corev1.Pod, len(w.pods))
	for _, p := range w.pods {
		pods[p.pod.Namespace+"/"+p.pod.Name] = p.pod
	}
	w.pace.tried(len(pods), time.Now()) // what changes from now on may come too late for a cycle
	w.mu.Unlock()
	if len(pods) > 0 && w.activator != nil {
		w.activator.Activate(w.log, pods)
	}
}

// changed says that the profiles of a namespace have changed, or for [metav1.NamespaceAll] what concerns all, so that there
// may be room now. It returns at once.
func (w *waiting) changed(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pods) == 0 {
		return
	}
	w.pace.change(namespace, time.Now())
	select {
	case w.wake <- struct{}{}:
	default: // it is looked at anyway
	}
}

// due returns when all pods are to be tried again, false if nothing has changed since they were.
func (w *waiting) due() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pace.due()
}

// run has the pods tried again when something has changed, until the context ends.
func (w *waiting) run(ctx context.Context) {
	for {
		var due <-chan time.Time // never
		if at, is := w.due(); is {
			due = time.After(time.Until(at))
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake: // it may be due earlier
		case <-due:
			w.activateAll()
		}
	}
}

// OnAdd does nothing.
func (*waiting) OnAdd(any, bool) {}

// OnUpdate does nothing: a pod that was placed was removed then.
func (*waiting) OnUpdate(any, any) {}

// OnDelete forgets a pod.
func (w *waiting) OnDelete(obj any) {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	if pod, ok := obj.(*corev1.Pod); ok {
		w.remove(pod.UID)
	}
}

// EventsToRegister returns what may make room for a pod that no node took.
func (d *Dilation) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete | fwk.UpdatePodScaleDown | fwk.UpdatePodLabel}, QueueingHintFn: d.afterPodEvent},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable | fwk.UpdateNodeLabel}, QueueingHintFn: d.afterNodeEvent},
	}, nil
}

// afterPodEvent says whether a pod that no node took may be taken once another pod is gone, has been made smaller or has other
// labels, or once it has other labels itself: whether the other one was on a node, and whether it can be in the way.
func (d *Dilation) afterPodEvent(_ klog.Logger, pod *corev1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	old, ok := oldObj.(*corev1.Pod)
	if !ok { // it came to a node: that makes no room
		return fwk.QueueSkip, nil
	}
	if changed, ok := newObj.(*corev1.Pod); ok && changed.UID == pod.UID {
		return fwk.Queue, nil
	}
	if old.Spec.NodeName == "" {
		return fwk.QueueSkip, nil
	}
	if vector, ownOnly := d.waiting.vector(pod.UID); ownOnly && !meet(newCandidate(d.index.Snapshot(), d.modes, old).anywhere(), vector) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// afterNodeEvent says whether a pod that no node took may be taken by a node that has come, or has changed: whether it has other
// processors or devices, or follows another NodeProfile. That its memory is another one, or a label that no NodeProfile selects by,
// makes no room.
func (d *Dilation) afterNodeEvent(_ klog.Logger, _ *corev1.Pod, oldObj, newObj any) (fwk.QueueingHint, error) {
	old, changed := oldObj.(*corev1.Node)
	node, ok := newObj.(*corev1.Node)
	if !changed || !ok {
		return fwk.Queue, nil
	}
	s := d.index.Snapshot()
	same := s.NodeClass(old) == s.NodeClass(node) && slices.Equal(s.Servers(old), s.Servers(node)) &&
		equality.Semantic.DeepEqual(extended(old), extended(node))
	if same {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// extended returns how much of each extended resource a node has: devices are among them.
func extended(node *corev1.Node) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, quantity := range node.Status.Allocatable {
		if strings.Contains(string(name), "/") {
			list[name] = quantity
		}
	}
	return list
}

// meet reports whether two pods are in each other's way at some resource. They may be where the vector
// of one is not known, and where vectors are about different resources, by their lengths.
func meet(a, b loading.Vector) bool {
	if len(a) == 0 || len(a) != len(b) {
		return true
	}
	for i := range a {
		if (a[i].Pressure > 0 || a[i].Effect != nil) && (b[i].Loading > 0 || b[i].Effect != nil) {
			return true
		}
	}
	return false
}
