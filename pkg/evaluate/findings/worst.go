package findings

import (
	"cmp"
	"slices"
)

// Worst returns the findings of an answer about the worst pods of each node, up to a number, and those about the others of a node
// together; both with the worst first. One that would be alone is among the first.
func (a *Answer) Worst(perNode int) (worst []Finding, others []Group) {
	all := map[string]int{}
	for i := range a.Findings {
		all[a.Findings[i].Node]++
	}
	shown, at := map[string]int{}, map[string]int{}
	for i := range a.Findings { // the worst first
		f := &a.Findings[i]
		if shown[f.Node] < perNode || all[f.Node] == perNode+1 {
			shown[f.Node]++
			worst = append(worst, *f)
			continue
		}
		k, known := at[f.Node]
		if !known {
			k = len(others)
			at[f.Node] = k
			others = append(others, newGroup(f))
			others[k].Node, others[k].Workload = f.Node, ""
		}
		others[k].add(f)
	}
	for k := range others {
		others[k].average()
		others[k].Pods = others[k].Slowed
	}
	slices.SortStableFunc(others, func(a, b Group) int { return cmp.Compare(b.Felt(), a.Felt()) })
	return worst, others
}
