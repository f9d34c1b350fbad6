package placement

// LRT is least response time: it puts a job where it is done first, by the model, if
// no other job arrives. Menascé and Bardhan, "Epochs", GMU-CS-TR-2014-01, section 5.
// The jobs that are there leave as they are done.
type LRT struct{}

// Name returns "lrt".
func (LRT) Name() string { return "lrt" }

// Choose returns the node where the job is done first.
func (LRT) Choose(now float64, j *Job, nodes []*NodeState) int {
	return cheapest(nodes, func(n *NodeState) float64 {
		response, _ := n.Running.Completion(now-n.Since, n.TypeOf(j), j.Neutral)
		return response
	})
}
