package dilation

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// version is of what concerns all nodes: the NodeProfiles, with the resources, and by how much bounds bind.
type version struct{ nodes, modes uint64 }

// nodeTable holds what is known about each node. That is valid for as long as the generation of
// its NodeInfo, which changes whenever a pod comes or goes, assumed ones included, the version,
// and the profiles that its own pods follow. With another generation the pods that have changed are
// looked at again, and where none has changed in what counts (see fareAs) what was found stays.
// A change of other profiles, of any namespace, has the node's pods looked at again at most,
// where they are of that namespace, and not the node priced and its model solved.
//
// It finds a node by its NodeInfo in the scheduler's snapshot, which stays in its place as long as
// there is the node, so that neither names nor Node objects are read. Copies, in which preemption tries
// pods out, are not in it.
//
// It is written by beginCycle alone, when no other method is running, so that
// it is read without a lock. What is known of a node is changed in place, without a lock, too:
// of the goroutines of a cycle only one is at a given node. Nodes that the table does not
// have yet wait in a list for the next cycle.
//
// In a large cluster it is not computing that takes the time, it is waiting for memory: a cycle comes to a tenth of the nodes, and so to each
// again after ten cycles, when it is in no cache near a processor. So what Filter and Score mostly ask of a node is in one cache line, which is
// found in one step.
type nodeTable struct {
	slots  []nodeState // a power of two, half of them free at least; a node is in the first free one from its hash on
	taken  int
	seed   maphash.Seed
	places places
	cycles uint64 // that began
	epoch  uint64 // changes with what concerns all nodes, and with any profile

	// What the epoch is of: the version, and that of the last snapshot of the profiles.
	version  version
	profiles uint64

	mu    sync.Mutex
	added map[*framework.NodeInfo]*nodeState // not in slots yet
}

// nodeState is what is known of one node, in one cache line. What Filter and Score found for pods of the last kind is in it, so that burst
// after burst reads this and no more.
type nodeState struct {
	node       *framework.NodeInfo // nil for a free slot
	generation int64               // of it when it was last looked at
	epoch      uint64              // when it was last looked at
	cycle      uint64              // in which the node was last asked for: it does not change in a cycle
	finding                        // for candidates of one kind, at a place
	*nodeDetails
}

// nodeDetails is what else is known of a node. Filter looks at its residents and Score at its prices, which are made when they are first asked for.
type nodeDetails struct {
	version   version
	residents *residents
	prices    *nodePrices
	full      float64   // see fullness
	found     []finding // for candidates of other kinds, at their places
	place     int       // of the finding that is not among these
}

// maxPerNode bounds for how many kinds is kept what was found on a node, and how its pods fare with them.
const maxPerNode = 64

// finding holds the results for candidates of a kind, 0 for none.
type finding struct {
	kind     kind
	cost     float64   // below 0 if it is not known
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
	return &nodeTable{slots: make([]nodeState, 2), seed: maphash.MakeSeed(), added: map[*framework.NodeInfo]*nodeState{}}
}

// beginCycle numbers a cycle, gives the kind of its candidate a place, and takes in the nodes that are new since the last one. A table that
// would have more than twice the number of nodes in the cluster is mostly about nodes that are gone, and starts again.
func (t *nodeTable) beginCycle(clusterNodes int, c *cycle) {
	t.cycles++
	if t.version != c.version || t.profiles != c.snapshot.Version {
		t.version, t.profiles = c.version, c.snapshot.Version
		t.epoch++
	}
	c.number, c.epoch, c.place = t.cycles, t.epoch, t.places.of(c.candidate.kind)

	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.added) == 0 {
		return
	}
	old := t.slots
	if t.taken+len(t.added) > 2*clusterNodes {
		old, t.taken = nil, 0
		clear(t.slots)
	}
	if size := len(t.slots); 2*(t.taken+len(t.added)) > size {
		for 2*(t.taken+len(t.added)) > size {
			size *= 2
		}
		t.slots, t.taken = make([]nodeState, size), 0
		for i := range old {
			if old[i].node != nil {
				t.insert(&old[i])
			}
		}
	}
	for _, n := range t.added {
		t.insert(n)
	}
	clear(t.added)
}

// slot returns where a node is in the table, or else where it would be.
func (t *nodeTable) slot(node *framework.NodeInfo) *nodeState {
	for i := maphash.Comparable(t.seed, node); ; i++ {
		if n := &t.slots[i&uint64(len(t.slots)-1)]; n.node == node || n.node == nil {
			return n
		}
	}
}

// insert takes in a node that is not in the table, which has room for it.
func (t *nodeTable) insert(n *nodeState) {
	*t.slot(n.node) = *n
	t.taken++
}

// recent returns the state of a node that was added in this cycle, nil if it was not.
func (t *nodeTable) recent(node *framework.NodeInfo) *nodeState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.added[node]
}

// add keeps the state of a node.
func (t *nodeTable) add(n *nodeState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.added[n.node] = n
}

// stateOf returns the current state of a node. It takes no lock and allocates nothing unless the node, or what is known of it,
// changed since it was last asked, or holds a sibling of the pod.
func (d *Dilation) stateOf(c *cycle, node fwk.NodeInfo) *nodeState {
	info, is := node.(*framework.NodeInfo)
	if !is || holdsSibling(c.candidate.pod, info) {
		return d.look(c, node)
	}
	n := d.nodes.slot(info)
	switch {
	case n.node == nil:
		return d.add(c, info)
	case n.cycle == c.number:
		return n
	case n.generation != info.Generation || n.epoch != c.epoch:
		d.renew(n, c)
	}
	n.cycle = c.number
	return n
}

// look looks at a node of which nothing is known.
func (d *Dilation) look(c *cycle, node fwk.NodeInfo) *nodeState {
	return &nodeState{
		generation: node.GetGeneration(), epoch: c.epoch, cycle: c.number,
		nodeDetails: &nodeDetails{version: c.version, residents: newResidents(d.modes, d.kinds, c, node, nil), full: fullness(node)},
	}
}

// renew looks at a node again that may have changed, and keeps what was found unless it may be another thing now.
func (d *Dilation) renew(n *nodeState, c *cycle) {
	same := n.generation == n.node.Generation && n.version == c.version
	n.generation, n.epoch = n.node.Generation, c.epoch
	if same && n.residents.In(c.snapshot) {
		return
	}
	before, full := n.residents, n.full
	if n.version != c.version {
		before = nil
	}
	n.version, n.residents, n.full = c.version, newResidents(d.modes, d.kinds, c, n.node, before), fullness(n.node)
	if !n.residents.fareAs(before) || n.full != full {
		n.finding, n.prices = finding{}, nil
		clear(n.found)
	}
}

// add returns the state of a node that is not in the table, and keeps it if the node is one of the snapshot.
func (d *Dilation) add(c *cycle, node *framework.NodeInfo) *nodeState {
	if n := d.nodes.recent(node); n != nil {
		return n // of this cycle
	}
	n := d.look(c, node)
	if known, err := c.nodes.Get(node.Node().Name); err == nil && known == node {
		n.node = node
		d.nodes.add(n)
	}
	return n
}

// of returns what is known for candidates of the kind of a cycle's, room for it if nothing is.
func (n *nodeState) of(c *cycle) *finding {
	if n.kind == c.candidate.kind {
		return &n.finding
	}
	if most := max(n.place, c.place); most >= len(n.found) {
		n.found = append(n.found, make([]finding, most+1-len(n.found))...)
	}
	n.found[n.place] = n.finding
	n.finding, n.place = n.found[c.place], c.place
	if n.kind != c.candidate.kind {
		n.finding = finding{kind: c.candidate.kind, cost: -1}
	}
	return &n.finding
}

// filteredOn reports whether a node takes the candidate now.
func (d *Dilation) filteredOn(c *cycle, node fwk.NodeInfo) *filtered {
	n := d.stateOf(c, node)
	f := n.of(c)
	if f.filtered != nil {
		return f.filtered
	}
	found, lasting := n.residents.filter(c.candidate, c.budget)
	if lasting {
		f.filtered = found
	}
	return found
}

// costOn returns the current cost of the candidate on a node.
func (d *Dilation) costOn(ctx context.Context, c *cycle, node fwk.NodeInfo) float64 {
	f := d.stateOf(c, node).of(c)
	if f.cost < 0 {
		f.cost = d.cost(ctx, c, node)
	}
	return f.cost
}

// recost keeps another cost of the candidate on a node, and returns it.
func (d *Dilation) recost(c *cycle, node fwk.NodeInfo, cost float64) float64 {
	d.stateOf(c, node).of(c).cost = cost
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
