package placement

import (
	"math"

	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/price"
)

// LeastCompletion puts a job on the node that would be done first with all its
// jobs, this one included, by the model, if no other job arrives: Graham's list
// scheduler, with completion times in place of the sum of neutral times.
type LeastCompletion struct {
	// Scratch.
	bounds  []float64
	running mix.Running
	done    []int
}

// Name returns "least-completion".
func (*LeastCompletion) Name() string { return "least-completion" }

// Choose returns the node that is done first. Only nodes whose lower bound is not above
// the time of the node with the least one are replayed to the end.
func (l *LeastCompletion) Choose(now float64, j *Job, nodes []*NodeState) int {
	likely := 0
	l.bounds = l.bounds[:0]
	for i, n := range nodes {
		_, bound := n.Running.Completion(now-n.Since, n.TypeOf(j), j.Neutral)
		l.bounds = append(l.bounds, bound)
		if bound < l.bounds[likely] {
			likely = i
		}
	}
	found := l.completion(now, j, nodes[likely], math.Inf(1))
	best, least := 0, math.Inf(1)
	for i, n := range nodes {
		if l.bounds[i] > found*(1+rounding) {
			continue
		}
		time := found
		if i != likely {
			time = l.completion(now, j, n, least*(1-price.CostTolerance))
		}
		if time < least && time <= least*(1-price.CostTolerance) {
			best, least = i, time
		}
	}
	return best
}

// rounding is far above the error of a bound, and of all ties between nodes.
const rounding = 1e-9

// completion returns how long it takes from now until all jobs on a node are done if a
// job is put there and no other arrives; +Inf if that is more than a limit.
func (l *LeastCompletion) completion(now float64, j *Job, n *NodeState, limit float64) float64 {
	if j.Neutral*n.Mixes.Stretch(j.Type) > limit {
		return math.Inf(1) // not even alone
	}
	l.running.CopyFrom(n.Running)
	if now > n.Since && l.running.Mix().Jobs() > 0 {
		l.done = l.running.Advance(now-n.Since, l.done[:0])
	}
	l.running.Start(n.TypeOf(j), j.Neutral, 0)
	elapsed := 0.0
	for l.running.Mix().Jobs() > 0 {
		next := l.running.Next()
		if elapsed += next; elapsed > limit {
			return math.Inf(1)
		}
		l.done = l.running.Advance(next, l.done[:0])
	}
	return elapsed
}
