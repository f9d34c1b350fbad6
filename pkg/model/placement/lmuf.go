package placement

// LMUF is least maximum utilization first: it puts a job on the node whose busiest
// resource is least busy now. Menascé and Bardhan, "Epochs", GMU-CS-TR-2014-01,
// section 5. Utilizations are those of the model. Of equally busy nodes, such as
// those that are busy all the time, it takes one on which fewest jobs run.
type LMUF struct{}

// Name returns "lmuf".
func (LMUF) Name() string { return "lmuf" }

// Choose returns the node of the least maximum utilization.
func (LMUF) Choose(_ float64, _ *Job, nodes []*NodeState) int {
	return cheapestOfFewest(nodes, func(n *NodeState) float64 { return n.Running.Mix().MaxUtilization() })
}
