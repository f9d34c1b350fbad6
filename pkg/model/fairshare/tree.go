package fairshare

import (
	"iter"
	"slices"
	"strings"
)

// Limits of a tree: a guard against endless ones, such as a group that is shared by so
// many others that the tree would not fit into memory.
const (
	MaxNodes = 100_000
	MaxDepth = 1000
)

// Separator stands between the names in a path.
const Separator = "/"

// Tree is a tree of groups and workloads, validated. It never changes, and may be used
// by many goroutines.
type Tree struct {
	nodes  []node // parents before children, siblings and their descendants in order
	leaves []int  // the workloads, as indices of nodes
	byPath map[string]int
}

// node is a group or a workload.
type node struct {
	Group  // without children
	path   string
	parent int // -1 for the root
	depth  int // 0 for the root
	leaf   int // its place among the workloads, -1 for a group

	children []int
	service  float64
	second   float64
	load     float64 // the utilization of the workloads in it
	residual float64 // the residual work λE[S²]/2 of the workloads in it
}

// New returns the tree below root, which is a group. Later changes to the groups do not
// change it. It returns a [ValueError] for the first rule that is broken: those of
// [Group], names that differ among siblings, and that no group is within itself.
//
// How busy the workloads keep the processors together is checked by [Solve], which
// knows how many there are.
func New(root *Group) (*Tree, error) {
	if root == nil {
		return nil, &ValueError{"", "", nil, "there is no root"}
	}
	b := &builder{tree: &Tree{byPath: map[string]int{}}, within: map[*Group]bool{}}
	if _, err := b.add(root, -1, ""); err != nil {
		return nil, err
	}
	return b.tree, nil
}

// builder copies groups into a tree.
type builder struct {
	tree   *Tree
	within map[*Group]bool // the groups around the one that is added
}

func (b *builder) add(g *Group, parent int, path string) (int, error) {
	t, at := b.tree, len(b.tree.nodes)
	root, depth := parent < 0, 0
	shown := path
	if root {
		shown = g.Name
	} else {
		depth = t.nodes[parent].depth + 1
	}
	if b.within[g] {
		return 0, &ValueError{shown, "", nil, "is a cycle: a group is within itself"}
	}
	if at == MaxNodes || depth > MaxDepth {
		return 0, &ValueError{shown, "", nil, "is one group or workload too many: a tree has at most 100,000, and 1,000 levels"}
	}
	if err := g.validate(shown, root); err != nil {
		return 0, err
	}
	if _, taken := t.byPath[path]; taken {
		return 0, &ValueError{shown, "name", g.Name, "is the name of two siblings; each needs its own"}
	}
	n := node{Group: *g, path: path, parent: parent, depth: depth, leaf: -1}
	n.Children = nil
	t.byPath[path] = at
	t.nodes = append(t.nodes, n)
	if g.Children == nil {
		t.addLeaf(at)
		return at, nil
	}
	b.within[g] = true
	defer delete(b.within, g)
	return at, b.addChildren(g, at, path)
}

func (b *builder) addChildren(g *Group, at int, path string) error {
	t := b.tree
	children := make([]int, len(g.Children))
	for i, child := range g.Children {
		if child == nil {
			return &ValueError{path, "children", nil, "hold a nil"}
		}
		inner := child.Name
		if path != "" {
			inner = path + Separator + child.Name
		}
		k, err := b.add(child, at, inner)
		if err != nil {
			return err
		}
		children[i] = k
		t.nodes[at].load += t.nodes[k].load
		t.nodes[at].residual += t.nodes[k].residual
	}
	t.nodes[at].children = children
	return nil
}

// addLeaf completes a node that is a workload.
func (t *Tree) addLeaf(at int) {
	n := &t.nodes[at]
	n.leaf = len(t.leaves)
	n.service, n.second = n.moments()
	n.load = n.Utilization
	n.residual = n.Utilization * n.second / (2 * n.service)
	t.leaves = append(t.leaves, at)
}

// leafAt returns the node of workload w.
func (t *Tree) leafAt(w int) *node { return &t.nodes[t.leaves[w]] }

// Utilization returns the mean number of processors that all workloads keep busy.
func (t *Tree) Utilization() float64 { return t.nodes[0].load }

// Len returns the number of workloads.
func (t *Tree) Len() int { return len(t.leaves) }

// TreeNode is what there is to know about a group or a workload of a tree.
type TreeNode struct {
	// Path is the names from below the root down, with [Separator] between them.
	Path string
	// Name is the last of them.
	Name string
	// Depth is 0 for the root.
	Depth int
	// Workload is its place in the lists of a [Result], -1 for a group.
	Workload int
	// Share is its weight among its siblings; of the root what was given.
	Share float64
	// Portion is its part of everything while all workloads have jobs: the product
	// of the relative shares of it and of the groups around it.
	Portion float64
	// Utilization is its mean number of busy processors, of a group the sum.
	Utilization float64
	// Service is the mean service time of a workload in seconds, 0 for a group.
	Service float64
}

// Nodes yields all groups and workloads, each group before its members.
func (t *Tree) Nodes() iter.Seq[TreeNode] {
	return func(yield func(TreeNode) bool) {
		portions := t.portions()
		for i := range t.nodes {
			if !yield(t.show(i, portions)) {
				return
			}
		}
	}
}

// Workloads returns the workloads in the order of a [Result].
func (t *Tree) Workloads() []TreeNode {
	return slices.Collect(func(yield func(TreeNode) bool) {
		portions := t.portions()
		for _, i := range t.leaves {
			if !yield(t.show(i, portions)) {
				return
			}
		}
	})
}

func (t *Tree) show(i int, portions []float64) TreeNode {
	n := &t.nodes[i]
	return TreeNode{
		Path: n.path, Name: n.Name, Depth: n.depth, Workload: n.leaf,
		Share: n.Share, Portion: portions[i], Utilization: n.load, Service: n.service,
	}
}

// index returns where the group or workload of a path is.
func (t *Tree) index(path string) (int, error) {
	if i, ok := t.byPath[path]; ok {
		return i, nil
	}
	known := 0 // how much of the path there is
	for i := range t.nodes {
		if p := t.nodes[i].path; p != "" && strings.HasPrefix(path, p+Separator) {
			known = max(known, len(p))
		}
	}
	if known == 0 {
		return 0, &ValueError{path, "", nil, "names no group and no workload of the tree"}
	}
	return 0, &ValueError{path, "", nil, "names nothing: there is a " + path[:known] + ", with no such member"}
}

// portions returns the part of everything that each node has while all are busy.
func (t *Tree) portions() []float64 {
	portions := make([]float64, len(t.nodes))
	portions[0] = 1
	for i := range t.nodes {
		largest, total := 0.0, 0.0
		for _, k := range t.nodes[i].children {
			largest = max(largest, t.nodes[k].Share)
		}
		for _, k := range t.nodes[i].children {
			total += t.nodes[k].Share / largest
		}
		for _, k := range t.nodes[i].children {
			portions[k] = portions[i] * (t.nodes[k].Share / largest) / total
		}
	}
	return portions
}
