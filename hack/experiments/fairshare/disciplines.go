package main

import "loadline.dev/loadline/pkg/model/fairshare"

// sharing is generalized processor sharing: at every moment, the members of a group
// that have jobs get parts of what it gets in proportion to their shares, however many
// jobs they have. That is what the kernel's scheduler aims at.
func sharing(root *fairshare.Group) discipline {
	return discipline{divide: func(jobs []int, parts []float64) {
		divide(root, 1, jobs, parts, func(share float64, _ int) float64 { return share })
	}}
}

// discriminatory processor sharing gives each job, not each workload, the share of its
// workload: the members of a group that are workloads weigh as much as their jobs. Groups
// keep their shares.
func discriminatory(root *fairshare.Group) discipline {
	return discipline{abreast: true, divide: func(jobs []int, parts []float64) {
		divide(root, 1, jobs, parts, func(share float64, jobs int) float64 { return share * float64(jobs) })
	}}
}

// divide sets the parts of the workloads below a group that gets the given part, from
// the first one on, and returns how many they are.
func divide(g *fairshare.Group, part float64, jobs []int, parts []float64, weigh func(share float64, jobs int) float64) int {
	if g.Children == nil {
		parts[0] = part
		return 1
	}
	weights, total := make([]float64, len(g.Children)), 0.0
	at := 0
	for i, child := range g.Children {
		n := len(workloads(child))
		if waiting := sum(jobs[at : at+n]); waiting > 0 {
			weights[i] = child.Share
			if child.Children == nil {
				weights[i] = weigh(child.Share, waiting)
			}
			total += weights[i]
		}
		at += n
	}
	at = 0
	for i, child := range g.Children {
		if weights[i] == 0 {
			at += len(workloads(child))
			continue
		}
		at += divide(child, part*weights[i]/total, jobs[at:], parts[at:], weigh)
	}
	return at
}

// order is an order of priority, the first workload first, and how probable it is.
type order struct {
	workloads   []int
	probability float64
}

// priority serves the first workload of an order that has jobs.
func priority(o order) discipline {
	return discipline{divide: func(jobs []int, parts []float64) {
		for _, w := range o.workloads {
			if jobs[w] > 0 {
				parts[w] = 1
				return
			}
		}
	}}
}

// orders returns all orders of the standard model of package fairshare, for workloads
// that are numbered from first on: each member of a group is the first with the
// probability of its share, then the same among the others.
func orders(g *fairshare.Group, first int) []order {
	if g.Children == nil {
		return []order{{[]int{first}, 1}}
	}
	members := make([]member, len(g.Children))
	for i, child := range g.Children {
		members[i] = member{child.Share, orders(child, first)}
		first += len(workloads(child))
	}
	return permute(members)
}

// member is a member of a group and the orders within it.
type member struct {
	share  float64
	orders []order
}

// permute returns the orders of members.
func permute(members []member) []order {
	if len(members) == 0 {
		return []order{{nil, 1}}
	}
	total := 0.0
	for _, m := range members {
		total += m.share
	}
	var all []order
	for i, m := range members {
		others := append(append([]member(nil), members[:i]...), members[i+1:]...)
		for _, rest := range permute(others) {
			for _, own := range m.orders {
				all = append(all, order{
					append(append([]int(nil), own.workloads...), rest.workloads...),
					m.share / total * own.probability * rest.probability,
				})
			}
		}
	}
	return all
}

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}
