package placement

// DefaultTarget is the target of [TargetLoadPacking] if none is given, that of the
// published plugin.
const DefaultTarget = 0.4

// TargetLoadPacking fills nodes up to a target utilization of one resource and
// spreads beyond it: the score of the load-aware scheduler plugins for Kubernetes
// (Kubernetes scheduler-plugins, KEP 61, "Real load aware scheduling"). With u the
// utilization of the node, the job's own included, and x the target, in percent,
//
//	score = (100 − x)·u/x + x      for u ≤ x
//	        x·(100 − u)/(100 − x)  for x < u ≤ 100
//	        0                      for u > 100
//
// The node's utilization is that of the model, where the plugins have one that was
// measured a while ago; the job's is what it would use if it were alone. Of nodes with
// the same score, such as those beyond 100 percent, it takes one on which fewest jobs
// run; the plugins take a random one.
type TargetLoadPacking struct {
	// Resource is the index of the resource, cpu usually.
	Resource int
	// Target is a utilization above 0 and below 1. Zero means [DefaultTarget].
	Target float64
}

// Name returns "target-load-packing".
func (TargetLoadPacking) Name() string { return "target-load-packing" }

// Choose returns the node of the highest score.
func (t TargetLoadPacking) Choose(_ float64, j *Job, nodes []*NodeState) int {
	return cheapestOfFewest(nodes, func(n *NodeState) float64 {
		used := n.Running.Mix().Utilization(t.Resource)
		if vector, _ := n.Class.On(j.Type.Vector); t.Resource < len(vector) {
			d := vector[t.Resource]
			used += d.Loading * float64(max(1, d.Threads)) / float64(n.Class.Servers[t.Resource])
		}
		return -t.score(100*used) / 100
	})
}

func (t TargetLoadPacking) score(used float64) float64 {
	x := 100 * t.Target
	if t.Target == 0 {
		x = 100 * DefaultTarget
	}
	switch {
	case used <= x:
		return (100-x)*used/x + x
	case used <= 100:
		return x * (100 - used) / (100 - x)
	default:
		return 0
	}
}
