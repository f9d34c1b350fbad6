package dilation

import (
	"context"
	"maps"
	"slices"
	"sync"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// version is of what concerns all nodes: the NodeProfiles, with the resources, and by how much bounds bind.
type version struct{ nodes, modes uint64 }

// nodeTable holds what is known about each node. That holds for as long as the generation of
// its NodeInfo, which changes whenever a pod comes or goes, assumed ones included, the version,
// and the profiles that its own pods follow. Whoever changes other profiles, of any namespace,
// has the node's pods looked at again at most, where they are of that namespace, and not the
// node priced and its model solved.
//
// It finds a node by its NodeInfo in the scheduler's snapshot, which stays in its place as long as
// there is the node, so that neither names nor Node objects are read. Copies, in which preemption tries
// pods out, are not in it.
//
// Its map is written by beginCycle alone, when no other method is running, so that
// it is read without a lock. What is known of a node is changed in place, without a lock, too:
// of the goroutines of a cycle only one is at a given node. Nodes that the map does not
// have yet wait in a list for the next cycle.
//
// In a large cluster it is not computing that takes the time, it is waiting for memory: a cycle comes to a tenth of the nodes, and so to each
// again after ten cycles. So the map has pointers for keys, and what is known of a node is one cache line, and one for what was found.
type nodeTable struct {
	nodes  map[*framework.NodeInfo]*nodeState
	places places

	mu    sync.Mutex
	added map[*framework.NodeInfo]*nodeState // not in nodes yet
}

// nodeState is one node. Filter looks at its residents and Score at its prices, which are made when they are first asked for.
// What they found for pods of some kinds is kept beside, so that burst after burst reads this and no more.
type nodeState struct {
	generation int64
	version    version
	profiles   uint64    // Version of the last snapshot that what is known holds in
	found      []finding // at the places of their kinds

	residents *residents
	prices    *nodePrices
	full      float64 // see fullness
}

// maxPerNode bounds for how many kinds is kept what was found on a node, and how its pods fare with them.
const maxPerNode = 64

// finding holds the results for candidates of a kind, 0 for none.
type finding struct {
	kind     kind
	cost     float64
	priced   bool      // whether the cost is known
	filtered *filtered // nil if it is not known
}

// places are where each node keeps what was found for candidates of which kind, the same on all nodes, so that none has to search.
type places struct {
	kinds []kind
	used  []bool // for another candidate, since this was last looked at
	next  int    // to be looked at
}

// of returns the place of a kind, of which a candidate comes: the one that it has, else another one. Where all are taken, that is the place
// of a kind of which no other candidate has come since it was last looked at: candidates that are all of different kinds take places from
// each other, and leave them to kinds of which there are many.
func (p *places) of(k kind) int {
	at := slices.Index(p.kinds, k)
	switch {
	case at >= 0:
		p.used[at] = true
	case len(p.kinds) < maxPerNode:
		at = len(p.kinds)
		p.kinds, p.used = append(p.kinds, k), append(p.used, false)
	default:
		for p.used[p.next] {
			p.used[p.next] = false
			p.next = (p.next + 1) % maxPerNode
		}
		at, p.kinds[p.next] = p.next, k
		p.next = (p.next + 1) % maxPerNode
	}
	return at
}

func newNodeTable() *nodeTable {
	return &nodeTable{nodes: map[*framework.NodeInfo]*nodeState{}, added: map[*framework.NodeInfo]*nodeState{}}
}

// beginCycle takes in the nodes that are new since the last cycle, and returns the place of the candidate's kind. A table that
// has grown to more than twice the number of nodes in the cluster is mostly
// about nodes that are gone, and starts again.
func (t *nodeTable) beginCycle(clusterNodes int, candidate kind) (place int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	place = t.places.of(candidate)
	if len(t.added) == 0 {
		return place
	}
	if len(t.nodes)+len(t.added) > 2*clusterNodes {
		clear(t.nodes)
	}
	maps.Copy(t.nodes, t.added)
	clear(t.added)
	return place
}

// stateOf returns the current state of a node. It takes no lock and allocates nothing unless the node, or what is known of it,
// changed since it was last asked, or holds a sibling of the pod.
func (d *Dilation) stateOf(c *cycle, node fwk.NodeInfo) *nodeState {
	info, is := node.(*framework.NodeInfo)
	if !is || holdsSibling(c.candidate.pod, info) {
		return d.look(c, node)
	}
	n := d.nodes.nodes[info]
	switch {
	case n == nil:
		return d.add(c, info)
	case !n.holds(c, info):
		d.renew(n, c, info)
	}
	return n
}

// look looks at a node of which nothing is known.
func (d *Dilation) look(c *cycle, node fwk.NodeInfo) *nodeState {
	return &nodeState{
		generation: node.GetGeneration(), version: c.version, profiles: c.snapshot.Version,
		residents: newResidents(d.modes, d.kinds, c, node, nil), full: fullness(node),
	}
}

// holds reports whether the kept state of a node is valid in a cycle.
func (n *nodeState) holds(c *cycle, node *framework.NodeInfo) bool {
	if n.generation != node.Generation || n.version != c.version {
		return false
	}
	if n.profiles == c.snapshot.Version {
		return true
	}
	n.profiles = c.snapshot.Version
	return n.residents.In(c.snapshot)
}

// renew looks at a node again that has changed, and keeps what was found unless it may be another thing now.
func (d *Dilation) renew(n *nodeState, c *cycle, node *framework.NodeInfo) {
	before, full := n.residents, n.full
	if n.version != c.version {
		before = nil
	}
	n.generation, n.version, n.profiles = node.Generation, c.version, c.snapshot.Version
	n.residents, n.full = newResidents(d.modes, d.kinds, c, node, before), fullness(node)
	if !n.residents.fareAs(before) || n.full != full {
		clear(n.found)
		n.prices = nil
	}
}

// add returns the state of a node that is not in the map, and keeps it if the node is one of the snapshot.
func (d *Dilation) add(c *cycle, node *framework.NodeInfo) *nodeState {
	if n := d.nodes.recent(node); n != nil {
		return n // of this cycle
	}
	n := d.look(c, node)
	if known, err := c.nodes.Get(node.Node().Name); err == nil && known == node {
		d.nodes.add(node, n)
	}
	return n
}

// recent returns the state of a node that was added in this cycle, nil if it was not.
func (t *nodeTable) recent(node *framework.NodeInfo) *nodeState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.added[node]
}

// add keeps the state of a node.
func (t *nodeTable) add(node *framework.NodeInfo, n *nodeState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.added[node] = n
}

// finding returns what is known for candidates of the kind of a cycle's, room for it if nothing is.
func (n *nodeState) finding(c *cycle) *finding {
	if c.place >= len(n.found) {
		n.found = append(n.found, make([]finding, c.place+1-len(n.found))...)
	}
	f := &n.found[c.place]
	if f.kind != c.candidate.kind {
		*f = finding{kind: c.candidate.kind}
	}
	return f
}

// filteredOn reports whether a node takes the candidate now.
func (d *Dilation) filteredOn(c *cycle, node fwk.NodeInfo) *filtered {
	f := d.stateOf(c, node).finding(c)
	if f.filtered != nil {
		return f.filtered
	}
	found, lasting := d.residentsOf(c, node).filter(c.candidate, c.budget)
	if lasting {
		f.filtered = found
	}
	return found
}

// costOn returns the current cost of the candidate on a node.
func (d *Dilation) costOn(ctx context.Context, c *cycle, node fwk.NodeInfo) float64 {
	f := d.stateOf(c, node).finding(c)
	if !f.priced {
		f.cost, f.priced = d.cost(ctx, c, node), true
	}
	return f.cost
}

// recost keeps another cost of the candidate on a node, and returns it.
func (d *Dilation) recost(c *cycle, node fwk.NodeInfo, cost float64) float64 {
	f := d.stateOf(c, node).finding(c)
	f.cost, f.priced = cost, true
	return cost
}

// pricesOf returns the current prices of a node.
func (d *Dilation) pricesOf(ctx context.Context, c *cycle, node fwk.NodeInfo) *nodePrices {
	n := d.stateOf(c, node)
	if n.prices == nil {
		n.prices = priceNode(ctx, n.residents)
	}
	return n.prices
}

// residentsOf returns the current pods of a node.
func (d *Dilation) residentsOf(c *cycle, node fwk.NodeInfo) *residents {
	return d.stateOf(c, node).residents
}
