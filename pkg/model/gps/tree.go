package gps

import (
	"cmp"
	"slices"
)

// leaf is equal tokens of the tree of shares: the threads of one job, which share its weight, or
// equal jobs of one thread, each with its own.
type leaf struct {
	job    *Job  // one of them
	jobs   []int // which they are
	tokens int
	group  int
	weight float64 // of the job, or of each
	limit  float64 // the same; at most the number of tokens it counts for
	own    bool    // each token has a weight and a limit of its own
}

// weightOf returns the weight of a leaf with n > 0 tokens that want the processor.
func (l *leaf) weightOf(n int) float64 {
	if l.own {
		return float64(n) * l.weight
	}
	return l.weight
}

// capOf returns how many cores n tokens of a leaf can use.
func (l *leaf) capOf(n int) float64 {
	if l.own {
		return float64(n) * l.limit
	}
	return min(float64(n), l.limit)
}

// tree shares the processor among the leaves of a network by weights and limits.
type tree struct {
	cores  float64
	groups []Group
	leaves []leaf
	inner  [][]int // of each group, its member groups
	outer  [][]int // of each group, its leaves

	caps    []float64 // of groups, given who is there
	members []member  // of the group that is being filled
}

// member is a leaf or a group that takes part in a group's cores.
type member struct {
	weight, cap float64
	index       int // of a leaf, or of the complement of a group
}

func newTree(n *Network) *tree {
	t := &tree{cores: float64(n.Servers[0]), groups: n.Groups}
	if len(t.groups) == 0 {
		t.groups = []Group{{}}
	}
	t.leaves = leavesOf(n)
	t.inner, t.outer = make([][]int, len(t.groups)), make([][]int, len(t.groups))
	for g := 1; g < len(t.groups); g++ {
		t.inner[t.groups[g].Parent] = append(t.inner[t.groups[g].Parent], g)
	}
	for l := range t.leaves {
		t.outer[t.leaves[l].group] = append(t.outer[t.leaves[l].group], l)
	}
	t.caps = make([]float64, len(t.groups))
	return t
}

// alike reports whether all tokens share alike: each has the same weight, and no limit.
func (t *tree) alike() bool {
	if len(t.leaves) == 0 {
		return true
	}
	first := &t.leaves[0]
	for l := range t.leaves {
		leaf := &t.leaves[l]
		if !leaf.own || leaf.limit < 1 || leaf.weight != first.weight || leaf.group != first.group {
			return false
		}
	}
	for g := first.group; ; g = t.groups[g].Parent {
		if t.groups[g].Limit > 0 {
			return false
		}
		if g == 0 {
			return true
		}
	}
}

// peers returns the tree of the same leaves in which all tokens share alike.
func (t *tree) peers() *tree {
	peers := &tree{cores: t.cores, groups: []Group{{}}, inner: make([][]int, 1), outer: make([][]int, 1), caps: make([]float64, 1)}
	for l, leaf := range t.leaves {
		leaf.group, leaf.weight, leaf.limit, leaf.own = 0, 1, 1, true
		peers.leaves = append(peers.leaves, leaf)
		peers.outer[0] = append(peers.outer[0], l)
	}
	return peers
}

// fill sets the cores of the tokens of each leaf together when present[l] of leaf l want the
// processor: at each level of the tree in proportion to weights, with the cores that a member
// cannot use going to its siblings (water-filling). It takes O(n log n) time for n leaves.
func (t *tree) fill(present []int, cores []float64) {
	for g := len(t.groups) - 1; g >= 0; g-- {
		total := 0.0
		for _, l := range t.outer[g] {
			if present[l] > 0 {
				total += t.leaves[l].capOf(present[l])
			}
		}
		for _, h := range t.inner[g] {
			total += t.caps[h]
		}
		t.caps[g] = limited(total, t.groups[g].Limit)
	}
	t.caps[0] = min(t.caps[0], t.cores)
	clear(cores)
	for g := range t.groups {
		if t.caps[g] > 0 {
			t.divide(g, present, cores)
		}
	}
}

func limited(cores, limit float64) float64 {
	if limit > 0 {
		return min(cores, limit)
	}
	return cores
}

// divide shares the cores of a group, t.caps[g], among its members. Those of member groups
// become their caps.
func (t *tree) divide(g int, present []int, cores []float64) {
	t.members = t.members[:0]
	total := 0.0
	for _, l := range t.outer[g] {
		if n := present[l]; n > 0 {
			t.members = append(t.members, member{t.leaves[l].weightOf(n), t.leaves[l].capOf(n), l})
			total += t.leaves[l].weightOf(n)
		}
	}
	for _, h := range t.inner[g] {
		if t.caps[h] > 0 {
			t.members = append(t.members, member{t.groups[h].Weight, t.caps[h], ^h})
			total += t.groups[h].Weight
		}
	}
	// Who is satisfied at the lowest level is satisfied first.
	slices.SortFunc(t.members, func(a, b member) int { return cmp.Compare(a.cap*b.weight, b.cap*a.weight) })
	left := t.caps[g]
	for _, m := range t.members {
		share := min(m.cap, left*m.weight/total)
		left -= share
		total -= m.weight
		if m.index >= 0 {
			cores[m.index] = share
		} else {
			t.caps[^m.index] = share
		}
	}
}
