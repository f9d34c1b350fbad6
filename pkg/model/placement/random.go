package placement

import "math/rand/v2"

// Random chooses any node, each with the same probability.
type Random struct {
	Rand *rand.Rand
}

// Name returns "random".
func (Random) Name() string { return "random" }

// Choose returns a random node.
func (r Random) Choose(_ float64, _ *Job, nodes []*NodeState) int { return r.Rand.IntN(len(nodes)) }
