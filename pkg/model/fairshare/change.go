package fairshare

import "slices"

// Change is what a question of "what if" changes about one group or workload.
type Change struct {
	// Path says which.
	Path string
	// Share is the new share; nil leaves it.
	Share *float64
}

// With returns the tree with changes made. The workloads keep their order, so that
// results can be compared. The errors are those of [New], and a
// [ValueError] for a path that names nothing and for a share of the root.
func (t *Tree) With(changes ...Change) (*Tree, error) {
	groups := t.groups()
	for _, c := range changes {
		i, err := t.index(c.Path)
		if err != nil {
			return nil, err
		}
		if c.Share != nil {
			if i == 0 {
				return nil, &ValueError{"", "share", *c.Share, "is that of the root, which has no siblings"}
			}
			groups[i].Share = *c.Share
		}
	}
	return New(&groups[0])
}

// Aggregate returns the tree with some siblings replaced by one workload called name,
// at the place of the first of them, whose utilization and share are the sums of
// theirs. In Section 2 of the paper that is an approximation for the others: it makes
// their response times longer, and more so the more is aggregated. A group alone becomes
// a workload of the same share, which changes nothing for the others at all (Section 3).
//
// It returns a [ValueError] if there are no paths, if they are not those of siblings, or
// if the name is taken.
func (t *Tree) Aggregate(name string, paths ...string) (*Tree, error) {
	if len(paths) == 0 {
		return nil, &ValueError{name, "", nil, "aggregates nothing: give the paths of siblings"}
	}
	groups, parent := t.groups(), -1
	var sum *Group
	arrivals, seconds := 0.0, 0.0
	var last *node
	for i, path := range paths {
		at, err := t.index(path)
		if err != nil {
			return nil, err
		}
		n := &t.nodes[at]
		switch {
		case at == 0:
			return nil, &ValueError{path, "", nil, "is the root, which cannot be aggregated"}
		case slices.Contains(paths[:i], path):
			return nil, &ValueError{path, "", nil, "is to be aggregated twice"}
		case sum == nil:
			sum, parent = &Group{Name: name}, n.parent
		case n.parent != parent:
			return nil, &ValueError{path, "", nil, "is no sibling of " + paths[0] + ", so they cannot be aggregated"}
		}
		sum.Share += n.Share
		sum.Utilization += n.load
		for w := range t.leaves {
			if leaf := t.leafAt(w); t.contains(at, t.leaves[w]) {
				arrivals += leaf.load / leaf.service
				seconds += leaf.load / leaf.service * leaf.second
				last = leaf
			}
		}
	}
	// The jobs of the aggregate are those of its workloads, mixed.
	sum.Service, sum.SecondMoment = last.service, last.second
	if arrivals > 0 {
		sum.Service, sum.SecondMoment = sum.Utilization/arrivals, seconds/arrivals
	}
	family := &groups[parent]
	family.Children = replace(family.Children, sum, t.members(groups, paths))
	return New(&groups[0])
}

// members returns the groups of paths that are known to exist.
func (t *Tree) members(groups []Group, paths []string) []*Group {
	members := make([]*Group, len(paths))
	for i, path := range paths {
		members[i] = &groups[t.byPath[path]]
	}
	return members
}

// replace returns the children with the old ones replaced by one at the place of the
// first.
func replace(children []*Group, by *Group, old []*Group) []*Group {
	var left []*Group
	for _, child := range children {
		if !slices.Contains(old, child) {
			left = append(left, child)
		} else if by != nil {
			left = append(left, by)
			by = nil
		}
	}
	return left
}

// contains reports whether a node is within another or is it.
func (t *Tree) contains(outer, inner int) bool {
	for inner > outer {
		inner = t.nodes[inner].parent
	}
	return inner == outer
}

// groups returns a copy of the tree as groups, in the order of its nodes.
func (t *Tree) groups() []Group {
	groups := make([]Group, len(t.nodes))
	for i := range t.nodes {
		groups[i] = t.nodes[i].Group
		for _, k := range t.nodes[i].children {
			groups[i].Children = append(groups[i].Children, &groups[k])
		}
	}
	return groups
}
