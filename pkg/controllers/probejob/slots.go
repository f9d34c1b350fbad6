package probejob

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Slots let one measurement at a time use a node, and a limited number of nodes
// be measured on at once. Controllers of one process share them. They are safe for
// concurrent use.
type Slots struct {
	mu       sync.Mutex
	limit    int
	held     map[types.UID][]string // nodes, by owner
	restored bool
}

// NewSlots returns slots of which none is held. The limit is on nodes, at least 1;
// an owner that asks for more nodes than that gets them while no other holds any.
func NewSlots(limit int) *Slots {
	return &Slots{limit: limit, held: map[types.UID][]string{}}
}

// Restore gives, once, the nodes to the profiles that are measured there according to
// their status: a controller that has just started must not let others in between. The
// reader is best a cache that has synced.
func (s *Slots) Restore(ctx context.Context, reader client.Reader) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.restored {
		return nil
	}
	var nodes v1alpha1.NodeProfileList
	if err := reader.List(ctx, &nodes); err != nil {
		return fmt.Errorf("listing node profiles: %w", err)
	}
	var workloads v1alpha1.WorkloadProfileList
	if err := reader.List(ctx, &workloads); err != nil {
		return fmt.Errorf("listing workload profiles: %w", err)
	}
	for i := range nodes.Items {
		if p := nodes.Items[i].Status.Calibrating; p != nil {
			s.held[nodes.Items[i].UID] = []string{p.Node}
		}
	}
	for i := range workloads.Items {
		if p := workloads.Items[i].Status.Measuring; p != nil {
			s.held[workloads.Items[i].UID] = distinct(p.Node, p.BaselineNode)
		}
	}
	s.restored = true
	return nil
}

// Acquire gives an owner some nodes in place of those that it holds, if no other
// holds one of them and the limit allows. If not, it returns false and the owner
// keeps what it holds.
func (s *Slots) Acquire(owner types.UID, nodes ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes = distinct(nodes...)
	others := 0
	for other, theirs := range s.held {
		if other == owner {
			continue
		}
		others += len(theirs)
		if slices.ContainsFunc(nodes, func(node string) bool { return slices.Contains(theirs, node) }) {
			return false
		}
	}
	// Nodes that the owner holds already need no room.
	same := !slices.ContainsFunc(nodes, func(node string) bool { return !slices.Contains(s.held[owner], node) })
	if !same && others > 0 && others+len(nodes) > s.limit {
		return false
	}
	s.held[owner] = nodes
	return true
}

// Free reports whether an owner could use a node as far as other owners go.
func (s *Slots) Free(owner types.UID, node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, theirs := range s.held {
		if other != owner && slices.Contains(theirs, node) {
			return false
		}
	}
	return true
}

// Release takes from an owner what it holds.
func (s *Slots) Release(owner types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, owner)
}

// WhenGone returns a handler of the events of owners that releases what those held
// that are gone. It enqueues nothing.
func (s *Slots) WhenGone() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ queue) { s.Release(e.Object.GetUID()) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ queue) {
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() { // deleted, and made anew since
				s.Release(e.ObjectOld.GetUID())
			}
		},
	}
}

// distinct returns nodes without repetition and without "".
func distinct(nodes ...string) []string {
	var all []string
	for _, node := range nodes {
		if node != "" && !slices.Contains(all, node) {
			all = append(all, node)
		}
	}
	return all
}
