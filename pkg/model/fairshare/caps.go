package fairshare

import (
	"fmt"
	"math"
)

// solveCaps takes shares as limits: footnote 1 of the paper, after Bolker and Ding. Each
// workload runs as if it had a processor of its own, or some if its cap is more than
// one, and there is no order.
func solveCaps(t *Tree, servers int) (*Result, error) {
	n := t.Len()
	r := &Result{
		Method: Caps, Factors: make([]float64, n), Responses: make([]float64, n), Errors: make([]float64, n),
		Evaluations: n,
	}
	portions := t.portions()
	for w, i := range t.leaves {
		leaf, limit := &t.nodes[i], portions[i]*float64(servers)
		if !(leaf.load < limit) {
			return nil, &ValueError{leaf.path, "utilization", leaf.load, fmt.Sprintf("is not below its cap, %v of %d processors", limit, servers)}
		}
		exponential := leaf.SecondMoment == 0 || leaf.second == 2*leaf.service*leaf.service
		if limit > 1 && !exponential {
			return nil, &ValueError{
				leaf.path, "secondMoment", leaf.second,
				fmt.Sprintf("is not twice the square of the mean; with a cap of %v processors only exponential service times have an exact solution", limit),
			}
		}
		r.Factors[w] = capped(leaf, limit)
		r.Responses[w] = r.Factors[w] * leaf.service
		const steps = 20
		r.Errors[w] = r.Factors[w] * unit * steps * limit / (limit - leaf.load)
	}
	return r, nil
}

// capped returns the response time, relative to the service time, of a workload alone
// on a number of processors, a fraction of which may be part of one. While there are n jobs
// they are served at the rate min(n, limit).
func capped(leaf *node, limit float64) float64 {
	if limit <= 1 { // M/G/1 at that speed
		return (1 + leaf.residual/(leaf.service*(limit-leaf.load))) / limit
	}
	// A birth-death process: as M/M/k/k up to k = ⌊limit⌋ jobs, geometric beyond.
	whole := math.Floor(limit)
	blocked := 1.0
	for k := 1.0; k <= whole; k++ {
		blocked = leaf.load * blocked / (k + leaf.load*blocked)
	}
	ratio := leaf.load / limit
	beyond := 1 / (1 - ratio)
	return (1 - blocked + blocked/limit*beyond*(whole+beyond)) / (1 + blocked*ratio*beyond)
}
