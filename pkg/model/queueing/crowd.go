package queueing

// crowd is the distribution of the number of threads at a station when each is
// there with a probability of its own, independently: a Poisson binomial
// distribution. What is negligible on either side is left out.
type crowd struct {
	low         int       // the smallest number with a probability
	probability []float64 // of 0, 1, …; below low it is 0
	mean        float64
}

// negligible is a probability that is left out at the ends of a distribution.
// almost is how close to 0 or 1 a presence may come without being taken for that:
// what is left out, divided by almost, must still be negligible for without.
const (
	negligible = 1e-30
	almost     = 1e-9
)

// snap takes what is almost 0 or 1 for that.
func snap(q float64) float64 {
	switch {
	case q < almost:
		return 0
	case q > 1-almost:
		return 1
	default:
		return q
	}
}

// empty makes it nobody's.
func (c *crowd) empty() {
	c.low, c.mean = 0, 0
	c.probability = append(c.probability[:0], 1)
}

// add adds one thread that is there with probability q.
func (c *crowd) add(q float64) {
	q = snap(q)
	c.mean += q
	c.probability = append(c.probability, 0)
	p := c.probability
	for n := len(p) - 1; n > c.low; n-- {
		p[n] = (1-q)*p[n] + q*p[n-1]
	}
	p[c.low] *= 1 - q
	for c.low < len(p)-1 && p[c.low] < negligible {
		p[c.low] = 0
		c.low++
	}
	for len(p)-1 > c.low && p[len(p)-1] < negligible {
		p = p[:len(p)-1]
	}
	c.probability = p
}

// without makes it what all is without one thread that is there with probability
// q. It solves
//
//	all(n) = q · others(n−1) + (1 − q) · others(n)
//
// going up as long as the second term is the larger, and down from the top for
// the rest (the ratio of the terms falls with n, because the numbers are
// log-concave): what is subtracted is never more than half, and even the smallest
// probabilities are right to a few roundings.
func (c *crowd) without(all *crowd, q float64) {
	q = snap(q)
	c.probability = append(c.probability[:0], all.probability...)
	p := c.probability
	c.low, c.mean = all.low, max(0, all.mean-q)
	n, below := c.low, 0.0
	for ; n < len(p) && q*below <= p[n]/2 && q < 1; n++ {
		p[n] = (p[n] - q*below) / (1 - q)
		below = p[n]
	}
	above := 0.0
	for top := len(p) - 1; top >= n; top-- {
		p[top], above = above, (p[top]-(1-q)*above)/q
	}
	if n == c.low && n > 0 { // all of it is one less
		c.low--
		p[c.low] = above
	}
}

// wait returns E[(N + 1 − c)^+] / c: what one more job waits for a server.
func (c *crowd) wait(servers int) float64 {
	sum := 0.0
	for n := max(c.low, servers); n < len(c.probability); n++ {
		sum += c.probability[n] * float64(n+1-servers)
	}
	return sum / float64(servers)
}
