package placement

import (
	"math"
	"math/rand/v2"
)

// LeastRequested puts a job where most of the capacities stays free, as
// kube-scheduler does by default: its plugin NodeResourcesFit with the strategy
// LeastAllocated (k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources,
// v1.36). Of the nodes that have room for the job's requests it takes one of the
// highest score, a whole number from 0 to 100, each of them with the same
// probability:
//
//	score = ⌊Σ_i s_i / number of i⌋,  s_i = ⌊100·(allocatable_i − requested_i)/allocatable_i⌋, at least 0
//
// over the capacities i that are scored and known at the node. requested_i counts
// the job itself, and every job that requests nothing of capacity i at Scored.Missing.
// Amounts are whole numbers of units; scores are exact up to 2^46 of them (70 TB).
//
// Where no node has room, kube-scheduler leaves the pod pending. A replay whose
// capacities are not limited places it nonetheless: then on the node that is least
// overcommitted, by the largest of the fractions (requested_i − allocatable_i)/allocatable_i,
// and of equal ones on any.
type LeastRequested struct {
	// Scored lists the capacities that count, [ScoredCPU] and [ScoredMemory] in
	// kube-scheduler. Without any, all nodes are equal.
	Scored []Scored
	// Rand chooses among equal nodes; nil takes the first.
	Rand *rand.Rand
}

// Scored is a capacity that [LeastRequested] scores.
type Scored struct {
	// Capacity is the index of the capacity.
	Capacity int
	// Units is how many units an amount of 1 is, above 0.
	Units float64
	// Missing is the amount, in units, that counts for a job without a request.
	Missing float64
}

// ScoredCPU returns the rule for a capacity in cores: they are counted in
// thousandths, and a job without a request as 100 of them, DefaultMilliCPURequest
// of kube-scheduler.
func ScoredCPU(capacity int) Scored { return Scored{Capacity: capacity, Units: 1000, Missing: 100} }

// ScoredMemory returns the rule for a capacity in bytes: a job without a request
// counts as 200 MiB, DefaultMemoryRequest of kube-scheduler.
func ScoredMemory(capacity int) Scored {
	return Scored{Capacity: capacity, Units: 1, Missing: 200 << 20}
}

// Name returns "least-requested".
func (LeastRequested) Name() string { return "least-requested" }

// Choose returns a node of the highest score.
func (l LeastRequested) Choose(_ float64, j *Job, nodes []*NodeState) int {
	best, highest, equal := 0, math.Inf(-1), 0
	for i, n := range nodes {
		switch score := l.score(j, n); {
		case score > highest:
			best, highest, equal = i, score, 1
		case score == highest:
			// Each of k equal nodes is kept with probability 1/k.
			if equal++; l.Rand != nil && l.Rand.IntN(equal) == 0 {
				best = i
			}
		}
	}
	return best
}

// score returns the score of a node that has room for a job, and of another a
// negative number, by how much it would be overcommitted.
func (l LeastRequested) score(j *Job, n *NodeState) float64 {
	sum, known, overcommitted := 0.0, 0.0, 0.0
	for _, s := range l.Scored {
		allocatable := s.units(n.Allocatable[s.Capacity])
		if allocatable == 0 {
			continue
		}
		requested, without := s.units(n.Requested[s.Capacity]), n.Running.Mix().Jobs()-n.Requesting[s.Capacity]
		if s.Capacity < len(j.Requests) && j.Requests[s.Capacity] > 0 {
			requested += s.units(j.Requests[s.Capacity])
			overcommitted = max(overcommitted, (requested-allocatable)/allocatable)
		} else {
			without++
		}
		requested += float64(without) * s.Missing
		sum += math.Floor(100 * max(0, allocatable-requested) / allocatable)
		known++
	}
	if overcommitted > 0 {
		return -overcommitted
	}
	return math.Floor(sum / max(1, known))
}

// units returns an amount in units, to the nearest whole one: sums of whole ones are
// whole but for rounding.
func (s Scored) units(amount float64) float64 { return math.Floor(amount*s.Units + 0.5) }
