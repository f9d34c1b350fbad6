package fairshare

import "math"

// contest is the race of the members of one group: for each, the integral over the time
// t at which its clock rings, with the density s·exp(−st), of a product over the others
// of what they contribute when they are ahead, with probability 1 − exp(−s't), or
// behind.
type contest struct {
	members []int
	grid    *grid
	// Per node of the grid and member, row by row: the probability of being ahead and
	// behind, and the density times the weight of the node.
	ahead, behind, density []float64
	residual               []float64 // per member

	// The integrals per member, from all nodes and from every other one, and their
	// derivatives by a weight of the residual work ahead.
	fine, half, fineAhead, halfAhead []float64

	odd, oddAhead   []float64    // from the other nodes
	factors, before []float64    // of one node
	slopes, risen   []float64    // of factors, before
	turns, turned   []complex128 // as factors and before
}

func newContest(t *Tree, group int, step, tolerance float64) *contest {
	c := &contest{members: t.nodes[group].children}
	n := len(c.members)
	largest, smallest := 0.0, math.Inf(1)
	for _, k := range c.members {
		largest = max(largest, t.nodes[k].Share)
		smallest = min(smallest, t.nodes[k].Share)
	}
	// The products grow with t, so that leaving out t < first leaves out less than
	// first·s of the whole, s ≤ 1 being the relative share.
	c.grid = newGrid(spare*tolerance, (-2*math.Log(spare*tolerance))*(largest/smallest), step)
	rows := len(c.grid.points)
	c.ahead, c.behind, c.density = make([]float64, rows*n), make([]float64, rows*n), make([]float64, rows*n)
	for k, time := range c.grid.points {
		for i, member := range c.members {
			share := t.nodes[member].Share / largest
			c.ahead[k*n+i] = -math.Expm1(-share * time)
			c.behind[k*n+i] = math.Exp(-share * time)
			c.density[k*n+i] = share * c.behind[k*n+i] * c.grid.weights[k]
		}
	}
	lists := make([]float64, 11*n)
	for _, list := range []*[]float64{
		&c.residual, &c.fine, &c.half, &c.fineAhead, &c.halfAhead, &c.odd, &c.oddAhead, &c.factors, &c.before, &c.slopes, &c.risen,
	} {
		*list, lists = lists[:n:n], lists[n:]
	}
	for i, member := range c.members {
		c.residual[i] = t.nodes[member].residual
	}
	return c
}

// vanished is a product that is too small to matter: of the response times, which are
// at least 1, and of its own integral, to which later nodes add more.
const vanished = 1e-280

// multiply computes the integrals, when being behind contributes the given factor per
// member and being ahead 1.
func (c *contest) multiply(contribution []float64) {
	n := len(c.members)
	if n == 1 { // no other to be ahead
		c.fine[0], c.half[0] = 1, 1
		return
	}
	clear(c.half)
	clear(c.odd)
	for k := range c.grid.points {
		ahead, behind, density := c.ahead[k*n:][:n], c.behind[k*n:][:n], c.density[k*n:][:n]
		factors, before, to := c.factors[:n], c.before[:n], c.half[:n]
		if k%2 == 1 {
			to = c.odd[:n]
		}
		product := 1.0
		for i, e := range contribution[:n] {
			factors[i] = ahead[i] + behind[i]*e
			before[i] = product
			product *= factors[i]
		}
		if product < vanished {
			continue
		}
		after := 1.0
		for i := n - 1; i >= 0; i-- {
			to[i] += density[i] * before[i] * after
			after *= factors[i]
		}
	}
	c.join()
}

// multiplyAhead does what multiply does, and computes the derivatives when being ahead
// contributes exp(ε·residual), at ε = 0.
func (c *contest) multiplyAhead(contribution []float64) {
	n := len(c.members)
	if n == 1 {
		c.fine[0], c.half[0] = 1, 1
		return
	}
	clear(c.half)
	clear(c.odd)
	clear(c.halfAhead)
	clear(c.oddAhead)
	for k := range c.grid.points {
		ahead, behind, density := c.ahead[k*n:][:n], c.behind[k*n:][:n], c.density[k*n:][:n]
		to, toAhead := c.half, c.halfAhead
		if k%2 == 1 {
			to, toAhead = c.odd, c.oddAhead
		}
		product, slope := 1.0, 0.0
		for i, e := range contribution {
			c.factors[i], c.slopes[i] = ahead[i]+behind[i]*e, ahead[i]*c.residual[i]
			c.before[i], c.risen[i] = product, slope
			product, slope = product*c.factors[i], slope*c.factors[i]+product*c.slopes[i]
		}
		if product < vanished {
			continue
		}
		after, fallen := 1.0, 0.0
		for i := n - 1; i >= 0; i-- {
			to[i] += density[i] * c.before[i] * after
			toAhead[i] += density[i] * (c.before[i]*fallen + c.risen[i]*after)
			after, fallen = after*c.factors[i], fallen*c.factors[i]+after*c.slopes[i]
		}
	}
	c.join()
	for i := range c.halfAhead {
		c.fineAhead[i] = c.halfAhead[i] + c.oddAhead[i]
		c.halfAhead[i] *= 2
	}
}

// join makes integrals of the sums over the even and the odd nodes.
func (c *contest) join() {
	for i := range c.half {
		c.fine[i] = c.half[i] + c.odd[i]
		c.half[i] *= 2
	}
}
