package dilation

import (
	"context"
	"sync"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"
)

// version is of all that is known of a node besides its NodeInfo: the profiles, and by how much their bounds bind.
type version struct{ profiles, modes uint64 }

// nodeTable holds what is known about each node, as of one generation of its NodeInfo,
// which changes whenever a pod comes or goes, assumed ones included, and one version.
//
// Its map is written by beginCycle alone, when no other method is running, so that
// it is read without a lock. What is found to be out of date is begun anew in place:
// of the goroutines of a cycle only one is at a given node. Nodes that the map does not
// have yet wait in a list for the next cycle.
type nodeTable struct {
	nodes map[string]*atomic.Pointer[nodeState]

	mu    sync.Mutex
	added map[string]*nodeState // not in nodes yet
}

// nodeState is one node. Filter looks at its tenants and Score at its prices, which are made when they are first asked for.
type nodeState struct {
	generation int64
	version    version
	prices     atomic.Pointer[nodePrices]
	tenants    atomic.Pointer[tenants]
}

func newNodeTable() *nodeTable {
	return &nodeTable{nodes: map[string]*atomic.Pointer[nodeState]{}, added: map[string]*nodeState{}}
}

// beginCycle takes in the nodes that are new since the last cycle. A table that
// has grown to more than twice the number of nodes in the cluster is mostly
// about nodes that are gone, and starts again.
func (t *nodeTable) beginCycle(clusterNodes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.added) == 0 {
		return
	}
	if len(t.nodes)+len(t.added) > 2*clusterNodes {
		clear(t.nodes)
	}
	for name, n := range t.added {
		p := &atomic.Pointer[nodeState]{}
		p.Store(n)
		t.nodes[name] = p
	}
	clear(t.added)
}

// of returns a node as it is now. It takes no lock and allocates
// nothing unless the node, or what is known of it, changed since it was last asked, or holds a sibling of the pod.
func (t *nodeTable) of(c *cycle, node fwk.NodeInfo) *nodeState {
	if holdsSibling(c.newcomer.pod, node) {
		return &nodeState{}
	}
	name := node.Node().Name
	known := t.nodes[name]
	if known != nil {
		if n := known.Load(); n.generation == node.GetGeneration() && n.version == c.version {
			return n
		}
	}
	n := &nodeState{generation: node.GetGeneration(), version: c.version}
	if known != nil {
		known.Store(n)
		return n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.added[name] = n
	return n
}

// pricesOf returns the prices of a node as it is now.
func (d *Dilation) pricesOf(ctx context.Context, c *cycle, node fwk.NodeInfo) *nodePrices {
	n := d.nodes.of(c, node)
	prices := n.prices.Load()
	if prices == nil {
		prices = price(ctx, c, node)
		n.prices.Store(prices)
	}
	return prices
}

// tenantsOf returns the pods of a node as they are now.
func (d *Dilation) tenantsOf(c *cycle, node fwk.NodeInfo) *tenants {
	n := d.nodes.of(c, node)
	t := n.tenants.Load()
	if t == nil {
		t = newTenants(d.modes, d.kinds, c, node)
		n.tenants.Store(t)
	}
	return t
}
