package dilation

import (
	"context"
	"sync"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"
)

// version is of all that is known of a node besides its NodeInfo: the profiles, and by how much their bounds bind.
type version struct{ profiles, modes uint64 }

// nodeTable holds something about each node, as of one generation of its NodeInfo,
// which changes whenever a pod comes or goes, assumed ones included, and one version.
//
// Its map is written by beginCycle alone, when no other method is running, so that
// it is read without a lock. What is found to be out of date is made again in place:
// of the goroutines of a cycle only one is at a given node. Nodes that the map does not
// have yet wait in a list for the next cycle.
type nodeTable[T any] struct {
	remake func(context.Context, *cycle, fwk.NodeInfo) *T
	nodes  map[string]*atomic.Pointer[nodeEntry[T]]

	mu    sync.Mutex
	added map[string]*nodeEntry[T] // not in nodes yet
}

type nodeEntry[T any] struct {
	generation int64
	version    version
	value      *T
}

func newNodeTable[T any](remake func(context.Context, *cycle, fwk.NodeInfo) *T) *nodeTable[T] {
	return &nodeTable[T]{remake: remake, nodes: map[string]*atomic.Pointer[nodeEntry[T]]{}, added: map[string]*nodeEntry[T]{}}
}

// beginCycle takes in the nodes that are new since the last cycle. A table that
// has grown to more than twice the number of nodes in the cluster is mostly
// about nodes that are gone, and starts again.
func (t *nodeTable[T]) beginCycle(clusterNodes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.added) == 0 {
		return
	}
	if len(t.nodes)+len(t.added) > 2*clusterNodes {
		clear(t.nodes)
	}
	for name, n := range t.added {
		p := &atomic.Pointer[nodeEntry[T]]{}
		p.Store(n)
		t.nodes[name] = p
	}
	clear(t.added)
}

// of returns what the table holds about a node as it is now. It takes no lock and allocates
// nothing unless the node, or what is known of it, changed since it was last asked, or holds a sibling of the pod.
func (t *nodeTable[T]) of(ctx context.Context, c *cycle, node fwk.NodeInfo) *T {
	if holdsSibling(c.newcomer.pod, node) {
		return t.remake(ctx, c, node)
	}
	name := node.Node().Name
	known := t.nodes[name]
	if known != nil {
		if n := known.Load(); n.generation == node.GetGeneration() && n.version == c.version {
			return n.value
		}
	}
	n := &nodeEntry[T]{node.GetGeneration(), c.version, t.remake(ctx, c, node)}
	if known != nil {
		known.Store(n)
		return n.value
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.added[name] = n
	return n.value
}
