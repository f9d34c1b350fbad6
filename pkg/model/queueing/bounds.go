package queueing

// bound makes the waits keep the asymptotic bounds: no job is faster than alone, and no station is
// busier than its servers allow, Σ_k n_k·D_ik/λ_k ≤ c_i (Denning and Buzen, Computing Surveys 10
// (3), 1978). The exact solution keeps them, and so does Schweitzer's for one server. The
// first-order model breaks the second when a station is saturated, the Linearizer by a little when
// one is nearly always busy. Where that happens every job at the station waits longer, by the least
// time with which the bound holds; others are then only less busy.
//
// Where pressure differs from demand only the smaller of the two keeps a
// server busy in any case, so that one is counted.
func (c *closed) bound(waits []float64) {
	dilations := make([]float64, c.n)
	for x, w := range waits {
		waits[x] = max(0, w)
	}
	for k := range dilations {
		dilations[k] = c.response(k, waits)
	}
	for i := range c.m {
		more := c.excess(i, dilations)
		if more == 0 {
			continue
		}
		for k := range dilations {
			x := k*c.m + i
			waits[x] += more
			dilations[k] += c.demand[x] * more
		}
	}
}

// excess returns how much longer every job must wait at station i for it to be
// no more than busy, 0 if it is not. How busy it is falls with the wait and is
// convex, so Newton's steps from below end at the answer.
func (c *closed) excess(i int, dilations []float64) (more float64) {
	servers := float64(c.servers[i])
	for {
		busy, slope := 0.0, 0.0
		for k, dilation := range dilations {
			x := k*c.m + i
			served := c.threads[x] * min(c.demand[x], c.pressure[x])
			longer := dilation + c.demand[x]*more
			busy += served / longer
			slope += served * c.demand[x] / (longer * longer)
		}
		if busy <= servers*(1+boundTolerance) {
			return more
		}
		more += (busy - servers) / slope
	}
}

// boundTolerance is the relative rounding error of the bound.
const boundTolerance = 1e-12
