package fairshare

import (
	"slices"
	"strings"
)

// Member is a group or a workload of a tree that is given as a list.
type Member struct {
	// Name is its own among all of the list.
	Name string
	// Parent is the name of the group that it is in; "" is the root.
	Parent string
	// Workload tells a workload from a group, which must have members.
	Workload bool
	// Share, Utilization, Service and SecondMoment are those of [Group].
	Share, Utilization, Service, SecondMoment float64
}

// Assemble returns the tree of a list, in any order; siblings keep theirs. It returns a
// [ValueError] with the name of the member for a name that is missing or taken, a
// parent that is no group of the list, groups that are within each other, and what [New]
// refuses.
func Assemble(members []Member) (*Tree, error) {
	byName := make(map[string]int, len(members))
	groups := make([]Group, len(members))
	for i, m := range members {
		if m.Name == "" {
			return nil, &ValueError{m.Parent, "name", nil, "is empty: a member needs a name"}
		}
		if _, taken := byName[m.Name]; taken {
			return nil, &ValueError{m.Name, "name", nil, "is the name of two members; each needs its own"}
		}
		byName[m.Name] = i
		groups[i] = Group{Name: m.Name, Share: m.Share, Utilization: m.Utilization, Service: m.Service, SecondMoment: m.SecondMoment}
		if !m.Workload {
			groups[i].Children = []*Group{}
		}
	}
	if err := checkParents(members, byName); err != nil {
		return nil, err
	}
	root := Group{Children: []*Group{}}
	for i, m := range members {
		parent := &root
		if m.Parent != "" {
			parent = &groups[byName[m.Parent]]
		}
		parent.Children = append(parent.Children, &groups[i])
	}
	return New(&root)
}

// checkParents returns nil if every member is below the root.
func checkParents(members []Member, byName map[string]int) error {
	for _, m := range members {
		if m.Parent == "" {
			continue
		}
		p, ok := byName[m.Parent]
		if !ok {
			return &ValueError{m.Name, "parent", m.Parent, "names no group"}
		}
		if members[p].Workload {
			return &ValueError{m.Name, "parent", m.Parent, "is a workload; only groups have members"}
		}
	}
	rooted := make([]bool, len(members))
	for i := range members {
		var way []int
		for at := i; !rooted[at]; at = byName[members[at].Parent] {
			if first := slices.Index(way, at); first >= 0 {
				return &ValueError{members[at].Name, "parent", members[at].Parent, "makes a cycle: " + cycle(members, way[first:])}
			}
			if way = append(way, at); members[at].Parent == "" {
				break
			}
		}
		for _, at := range way {
			rooted[at] = true
		}
	}
	return nil
}

// cycle writes a cycle of groups, each within the next.
func cycle(members []Member, way []int) string {
	names := make([]string, 0, len(way)+1)
	for _, i := range way {
		names = append(names, members[i].Name)
	}
	return strings.Join(append(names, names[0]), " is in ")
}
