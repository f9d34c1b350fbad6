// Package placement holds the policies that choose a node for a job, one file
// each. A policy gets the job and the nodes that can take it, with the jobs that run
// there and how much work each has left, and returns an index. It does not change the
// nodes. The scheduler plugin prices nodes with the same code as [LeastDilation].
package placement

import (
	"math"

	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/price"
)

// Job is a job to place.
type Job struct {
	// Type is how it loads a node.
	Type *mix.JobType
	// Neutral is its own time on a node of speed 1, in seconds, at least 0: its
	// neutral time on such a node that has a server for each of its threads.
	Neutral float64
	// Requests is the job's request for each of a node's capacities, in their units, at least 0. It
	// may be shorter than the capacities: missing requests are 0.
	Requests []float64
}

// Policy chooses nodes for jobs. It may remember what it chose, so that one policy
// serves one replay, and is not safe for concurrent use.
type Policy interface {
	// Name names the policy as users write it.
	Name() string
	// Choose returns the index of the node that the job should start on at a time not before that
	// of the last call, −1 if it should wait: of equally good nodes the lowest, unless the policy's
	// documentation says otherwise. A policy must not let a job wait while no job runs. There is at
	// least one node.
	Choose(now float64, j *Job, nodes []*NodeState) int
}

// cheapest returns the first index of the least cost, which is at least 0.
func cheapest(nodes []*NodeState, cost func(*NodeState) float64) int {
	best, least := -1, math.Inf(1)
	for i, n := range nodes {
		if c := cost(n); best < 0 || !price.SameCost(c, least) {
			best, least = i, c
		}
	}
	return best
}

// cheapestOfFewest returns the index of the node of the least cost; of equally cheap nodes the
// first of those on which fewest jobs run. It is for costs that are bounded: utilizations are the
// same on all nodes that are busy all the time, and the first of these would always be taken.
func cheapestOfFewest(nodes []*NodeState, cost func(*NodeState) float64) int {
	least := math.Inf(1)
	for _, n := range nodes {
		least = min(least, cost(n))
	}
	best, fewest := 0, math.MaxInt
	for i, n := range nodes {
		if jobs := n.Running.Mix().Jobs(); jobs < fewest && cost(n)-least <= saturation {
			best, fewest = i, jobs
		}
	}
	return best
}

// saturation is the difference below which two utilizations are the same: they are
// as exact as the solver of the model.
const saturation = 1e-6
