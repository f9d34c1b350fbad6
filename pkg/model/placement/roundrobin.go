package placement

// RoundRobin takes the nodes in turn, whatever runs there. Nodes that cannot take
// a job are passed over.
type RoundRobin struct {
	next int // the lowest Node.Index to choose
}

// Name returns "round-robin".
func (*RoundRobin) Name() string { return "round-robin" }

// Choose returns the next node after the one chosen last.
func (r *RoundRobin) Choose(_ float64, _ *Job, nodes []*NodeState) int {
	chosen := 0
	if r.next < len(nodes) && nodes[r.next].Index == r.next { // all nodes can take it
		chosen = r.next
	} else {
		for i, n := range nodes {
			if n.Index >= r.next {
				chosen = i
				break
			}
		}
	}
	r.next = nodes[chosen].Index + 1
	return chosen
}
