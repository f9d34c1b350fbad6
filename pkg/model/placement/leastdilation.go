package placement

// LeastDilation puts a job where it costs least, min ΔW: what it waits plus what
// it makes the others wait, as multiples of their neutral times, to first order.
// For one server per resource and symmetric jobs this is Definition 2 of Lim et
// al., "D-factor", SIGMETRICS 2012: min p'·p̄. It is what the scheduler plugin does.
type LeastDilation struct{}

// Name returns "least-dilation".
func (LeastDilation) Name() string { return "least-dilation" }

// Choose returns the node of the least price.
func (LeastDilation) Choose(_ float64, j *Job, nodes []*NodeState) int {
	return cheapest(nodes, func(n *NodeState) float64 { return n.Running.Mix().Price(n.TypeOf(j)) })
}
