package dilation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/profile"
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
type nodeTable struct {
	nodes map[fwk.NodeInfo]*nodeState

	mu    sync.Mutex
	added map[fwk.NodeInfo]*nodeState // not in nodes yet
}

// nodeState is one node. Filter looks at its residents and Score at its prices, which are made when they are first asked for.
// What they found for pods of some kinds is kept beside, so that burst after burst reads this and no more.
type nodeState struct {
	generation int64
	version    version
	profiles   uint64            // Version of the last snapshot that what is known holds in
	followed   *profile.Followed // by the pods; nil until anything is known
	kinds      []kind            // of what was found, apart to be found fast
	found      []finding
	next       int // of found, to be overwritten if it was not used
	prices     *nodePrices
	residents  *residents
	before     former // before the node changed, of the same version
}

// former is what was known of the pods of a node, nil for nothing.
type former struct {
	followed  *profile.Followed
	residents *residents
}

// maxPerNode bounds for how many kinds is kept what was found on a node, and how its pods fare with them.
const maxPerNode = 64

// finding holds the results for candidates of a kind.
type finding struct {
	cost     float64
	priced   bool      // whether the cost is known
	used     bool      // for another pod, since room was last looked for here
	filtered *filtered // nil if it is not known
}

func newNodeTable() *nodeTable {
	return &nodeTable{nodes: map[fwk.NodeInfo]*nodeState{}, added: map[fwk.NodeInfo]*nodeState{}}
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
	maps.Copy(t.nodes, t.added)
	clear(t.added)
}

// of returns the current state of a node. It takes no lock and allocates nothing unless the node, or what is known of it,
// changed since it was last asked, or holds a sibling of the pod.
func (t *nodeTable) of(c *cycle, node fwk.NodeInfo) *nodeState {
	if holdsSibling(c.candidate.pod, node) {
		return &nodeState{}
	}
	n := t.nodes[node]
	switch {
	case n == nil:
		return t.add(c, node)
	case !n.holds(c, node):
		*n = nodeState{
			generation: node.GetGeneration(), version: c.version, profiles: c.snapshot.Version, kinds: n.kinds[:0], found: n.found[:0],
			before: n.last(c.version),
		}
	}
	return n
}

// holds reports whether the kept state of a node is valid in a cycle.
func (n *nodeState) holds(c *cycle, node fwk.NodeInfo) bool {
	if n.generation != node.GetGeneration() || n.version != c.version {
		return false
	}
	if n.profiles == c.snapshot.Version {
		return true
	}
	n.profiles = c.snapshot.Version
	return n.followed == nil || n.followed.In(c.snapshot)
}

// last returns what was known last in a version.
func (n *nodeState) last(v version) former {
	if n.version != v {
		return former{}
	}
	return former{cmp.Or(n.followed, n.before.followed), cmp.Or(n.residents, n.before.residents)}
}

// add returns an empty state for a node that is not in the map, and keeps it if the node is one of the snapshot.
func (t *nodeTable) add(c *cycle, node fwk.NodeInfo) *nodeState {
	n := &nodeState{generation: node.GetGeneration(), version: c.version, profiles: c.snapshot.Version}
	if known, err := c.nodes.Get(node.Node().Name); err != nil || known != node {
		return n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if same := t.added[node]; same != nil {
		return same // of this cycle
	}
	t.added[node] = n
	return n
}

// finding returns what is known for candidates of a kind, room for it if nothing is. Where all is taken, that is the room of a
// kind for which nothing was used since room was last looked for there: pods that are all of different kinds take it from
// each other, and leave it to kinds of which there are many.
func (n *nodeState) finding(k kind) *finding {
	if i := slices.Index(n.kinds, k); i >= 0 {
		return &n.found[i]
	}
	if len(n.kinds) < maxPerNode {
		n.kinds, n.found = append(n.kinds, k), append(n.found, finding{})
		return &n.found[len(n.found)-1]
	}
	for n.found[n.next].used {
		n.found[n.next].used = false
		n.next = (n.next + 1) % maxPerNode
	}
	i := n.next
	n.next = (i + 1) % maxPerNode
	n.kinds[i], n.found[i] = k, finding{}
	return &n.found[i]
}

// use takes down that what was found was used for another pod.
func (f *finding) use() {
	if !f.used { // or all processors would write where they only read
		f.used = true
	}
}

// filteredOn reports whether a node takes the candidate now.
func (d *Dilation) filteredOn(c *cycle, node fwk.NodeInfo) *filtered {
	f := d.nodes.of(c, node).finding(c.candidate.kind)
	if f.filtered != nil {
		f.use()
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
	f := d.nodes.of(c, node).finding(c.candidate.kind)
	if !f.priced {
		f.cost, f.priced = d.cost(ctx, c, node), true
	} else {
		f.use()
	}
	return f.cost
}

// recost keeps another cost of the candidate on a node, and returns it.
func (d *Dilation) recost(c *cycle, node fwk.NodeInfo, cost float64) float64 {
	f := d.nodes.of(c, node).finding(c.candidate.kind)
	f.cost, f.priced = cost, true
	return cost
}

// follow returns which profiles the pods of the node follow.
func (n *nodeState) follow(c *cycle, node fwk.NodeInfo) *profile.Followed {
	if n.followed == nil {
		n.followed = c.snapshot.FollowAfter(n.before.followed, podsOf(node))
		n.before.followed = nil
	}
	return n.followed
}

// pricesOf returns the current prices of a node.
func (d *Dilation) pricesOf(ctx context.Context, c *cycle, node fwk.NodeInfo) *nodePrices {
	n := d.nodes.of(c, node)
	if n.prices == nil {
		n.prices = priceNode(ctx, c, node.Node(), n.follow(c, node))
	}
	return n.prices
}

// residentsOf returns the current pods of a node.
func (d *Dilation) residentsOf(c *cycle, node fwk.NodeInfo) *residents {
	n := d.nodes.of(c, node)
	if n.residents == nil {
		n.residents = newResidents(d.modes, d.kinds, c, node.Node(), n.follow(c, node), n.before.residents)
		n.before.residents = nil
	}
	return n.residents
}
