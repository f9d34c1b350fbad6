package recording

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"loadline.dev/loadline/pkg/record"
)

// ledger is the store of a cache.Reflector of pods. Those that are over go to a
// spool, once each; the others it remembers. It serves one reflector and is not
// safe for concurrent use.
type ledger struct {
	spool   *spool
	changed func(recorded, live int)
	live    map[types.UID]*corev1.Pod
	listed  bool // at least once
	err     error
	failed  func() // is called when there is an error
}

var _ cache.TransformingStore = &ledger{}

func newLedger(s *spool, changed func(recorded, live int)) *ledger {
	return &ledger{spool: s, changed: changed, live: map[types.UID]*corev1.Pod{}}
}

// Add takes a pod that is new, or new to the ledger.
func (l *ledger) Add(object any) error { return l.take(object, l.see) }

// Update takes the new state of a pod.
func (l *ledger) Update(object any) error { return l.take(object, l.see) }

// Delete takes the last state of a pod that is gone.
func (l *ledger) Delete(object any) error { return l.take(object, l.end) }

// Replace takes all present pods. The missing ones went while the server was unreachable.
func (l *ledger) Replace(objects []any, _ string) error {
	there := map[types.UID]bool{}
	for _, object := range objects {
		err := l.take(object, func(pod *corev1.Pod) {
			there[pod.UID] = true
			l.see(pod)
		})
		if err != nil {
			return err
		}
	}
	for uid, pod := range l.live {
		if !there[uid] {
			l.end(pod)
		}
	}
	l.listed = true
	return nil
}

// Resync does nothing: no listener needs the events again.
func (*ledger) Resync() error { return nil }

// Transformer returns a function that makes pods small before they are kept anywhere.
func (*ledger) Transformer() cache.TransformFunc {
	return func(object any) (any, error) {
		if pod, ok := object.(*corev1.Pod); ok {
			slim := record.Slim(pod)
			slim.ResourceVersion = pod.ResourceVersion // the reflector goes by it
			return slim, nil
		}
		return object, nil
	}
}

// unfinished returns the pods that are not over.
func (l *ledger) unfinished() []*corev1.Pod { return slices.Collect(maps.Values(l.live)) }

// take hands a pod on. An error of the ledger's own is nothing that the reflector
// could do anything about.
func (l *ledger) take(object any, by func(*corev1.Pod)) error {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("want a Pod, got %T", object)
	}
	by(pod)
	l.changed(l.spool.size(), len(l.live))
	return nil
}

func (l *ledger) see(pod *corev1.Pod) {
	if record.Finished(pod) {
		l.end(pod)
	} else {
		l.live[pod.UID] = record.Slim(pod)
	}
}

func (l *ledger) end(pod *corev1.Pod) {
	delete(l.live, pod.UID)
	if err := l.spool.add(record.Deleted(pod)); err != nil && l.err == nil {
		l.err = err
		l.failed()
	}
}
