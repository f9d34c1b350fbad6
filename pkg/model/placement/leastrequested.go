package placement

// LeastRequested puts a job where the largest fraction of what can be requested
// stays free, on average over the capacities that are known: the strategy
// LeastAllocated of kube-scheduler's NodeResourcesFit, what its default scoring
// rests on,
//
//	score = Σ_i (allocatable_i − requested_i)/allocatable_i / number of i
//
// with the job's own request counted as requested. It is not rounded to whole
// percents, and ties go to the first node, not to a random one.
type LeastRequested struct{}

// Name returns "least-requested".
func (LeastRequested) Name() string { return "least-requested" }

// Choose returns the node with the most left.
func (LeastRequested) Choose(_ float64, j *Job, nodes []*Node) int {
	return highest(nodes, func(n *Node) float64 {
		free, known := 0.0, 0
		for i, allocatable := range n.Allocatable {
			if allocatable <= 0 {
				continue
			}
			requested := n.Requested[i]
			if i < len(j.Requests) {
				requested += j.Requests[i]
			}
			free += 1 - requested/allocatable
			known++
		}
		return free / float64(max(1, known))
	})
}
