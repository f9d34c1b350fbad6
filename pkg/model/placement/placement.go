// Package placement holds the policies that choose a node for a job, for use in
// replays and comparisons. A policy sees the job and the state of the nodes,
// and returns an index. The scheduler plugin prices nodes with the same code as
// [LeastDilation].
package placement

import (
	"math"

	"loadline.dev/loadline/pkg/model/contention"
)

// Job is a job to place.
type Job struct {
	Neutral float64 // its neutral time, in any unit, at least 0
	Vector  contention.Vector
}

// Node is a node to choose from.
type Node struct {
	Load *contention.Load
	Work float64 // sum of the neutral times of the jobs on it, in their unit
}

// Add puts a job on the node.
func (n *Node) Add(j Job) {
	n.Load.Add(j.Vector)
	n.Work += j.Neutral
}

// Policy chooses nodes for jobs.
type Policy interface {
	// Name names the policy as users write it.
	Name() string
	// Choose returns the index of the node that the job should go to, the
	// lowest of those that are equally good, −1 if there are no nodes.
	Choose(j Job, nodes []*Node) int
}

// tie is the relative difference below which two costs are the same: sums of
// the same numbers in another order.
const tie = 1e-12

// cheapest returns the first index of the least cost, −1 for no nodes.
func cheapest(nodes []*Node, cost func(*Node) float64) int {
	best, least := -1, math.Inf(1)
	for i, n := range nodes {
		if c := cost(n); best < 0 || least-c > tie*least {
			best, least = i, c
		}
	}
	return best
}

// LeastDilation puts a job where it costs least, min ΔW: what it waits plus
// what it makes the others wait. For one server per resource and symmetric jobs
// this is Definition 2 of Lim et al., "D-factor", SIGMETRICS 2012: min p'·p̄.
type LeastDilation struct{}

// Name returns "least-dilation".
func (LeastDilation) Name() string { return "least-dilation" }

// Choose returns the node of the least price.
func (LeastDilation) Choose(j Job, nodes []*Node) int {
	candidate := contention.NewCandidate(j.Vector)
	return cheapest(nodes, func(n *Node) float64 { return n.Load.Prices().Of(candidate) })
}

// List is Graham's list scheduler: it puts a job where the sum of the neutral
// times would be least, as if a node had a single resource (Eq. (16) of the
// D-factor paper).
type List struct{}

// Name returns "list".
func (List) Name() string { return "list" }

// Choose returns the node with the least work.
func (List) Choose(_ Job, nodes []*Node) int {
	return cheapest(nodes, func(n *Node) float64 { return n.Work })
}
