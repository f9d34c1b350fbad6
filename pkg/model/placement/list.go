package placement

// List is Graham's list scheduler: it puts a job where the least work is left, the
// sum of the neutral times left, as if a node had a single resource. Eq. (16) of
// Lim et al., "D-factor", SIGMETRICS 2012, is the same for jobs that have just
// started; it counts the neutral times of running jobs in full.
type List struct{}

// Name returns "list".
func (List) Name() string { return "list" }

// Choose returns the node with the least work left.
func (List) Choose(now float64, _ *Job, nodes []*NodeState) int {
	return cheapest(nodes, func(n *NodeState) float64 { return n.Running.Left(now - n.Since) })
}
