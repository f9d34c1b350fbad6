package gps

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// fewestLevels and mostLevels bound the number of levels at which the threads' shares are computed, and levelRatio is that of two
	// levels as far as these allow: the more unlike weights are, the more levels there are.
	fewestLevels, mostLevels = 32, 128
	levelRatio               = 1.15
)

// sums are those over the threads of their shares at a level, given the probability of the presence of each:
// mean, variance, and covariance with their number.
type sums struct{ mean, variance, covariance float64 }

// divide sets the mean share of a thread of each leaf when k threads are present. The level θ at which the
// processor is shared is where the sum of all shares, min(limit, weight·θ) each, equals the servers. The sum of
// k threads' shares at a level is a random number, taken to be normal, so that
//
//	E[min(u, w·θ)] = ∫₀^(u/w) w · P(θ > t) dt,   P(θ > t) = P(what they take at t < cores)
func (c *closure) divide(k int) {
	cores := c.tree.cores
	if float64(k) <= cores || c.even {
		for l := range c.share {
			c.share[l][k] = min(c.limit[l], cores/float64(k))
		}
		return
	}
	variance := 0.0 // of the number, before it is known to be k
	for l := range c.given {
		variance += float64(c.tree.leaves[l].tokens) * c.given[l][k] * (1 - c.given[l][k])
	}
	for i := range c.grid {
		s := sums{}
		for l, takes := range c.takes[i] {
			p := c.given[l][k]
			some := float64(c.tree.leaves[l].tokens) * p
			s.mean += some * takes
			s.covariance += some * (1 - p) * takes
			s.variance += some * (1 - p) * takes * takes
		}
		c.sums[i] = s
	}
	for l := range c.given {
		c.share[l][k] = c.meanShare(l, k, variance)
	}
}

// setGrid sets the levels from the lowest that there can be, with all threads there, to that at which every one
// is at its limit, in equal proportions, and what a thread of each leaf takes at them.
func (c *closure) setGrid() {
	weights, top := 0.0, 0.0
	for l := range c.weight {
		weights += float64(c.tree.leaves[l].tokens) * c.weight[l]
		top = max(top, c.limit[l]/c.weight[l])
	}
	bottom := min(top, c.tree.cores/weights)
	c.even = !slices.ContainsFunc(c.weight, func(w float64) bool { return w != c.weight[0] }) &&
		!slices.ContainsFunc(c.limit, func(u float64) bool { return u != c.limit[0] })
	levels := fewestLevels
	if wanted := math.Log(top/bottom) / math.Log(levelRatio); wanted > fewestLevels {
		levels = int(min(mostLevels, math.Ceil(wanted)))
	}
	c.grid = c.grid[:levels]
	for i := range c.grid {
		c.grid[i] = bottom * math.Pow(top/bottom, float64(i)/float64(levels-1))
		for l := range c.weight {
			c.takes[i][l] = min(c.limit[l], c.weight[l]*c.grid[i])
		}
	}
}

// meanShare integrates over the levels for one thread, which is certainly present: the k − 1 others are without
// it. Between two levels its remaining share is taken to be linear, up to the level at which it is at its limit.
func (c *closure) meanShare(l, k int, variance float64) float64 {
	p, top := c.given[l][k], c.limit[l]/c.weight[l]
	q := p * (1 - p)
	variance -= q
	total, before, roomBefore, spreadBefore := 0.0, 0.0, 0.0, 0.0
	for i, t := range c.grid {
		takes, s, last := c.takes[i][l], c.sums[i], t >= top
		if last && i > 0 {
			s = c.sums[i-1].towards(&s, (top-before)/(t-before))
			t = top
		}
		s.mean -= p * takes
		s.variance -= q * takes * takes
		s.covariance -= q * takes
		if variance > roundings { // given that the others are k − 1
			s.mean -= (1 - p) * s.covariance / variance
			s.variance -= s.covariance * s.covariance / variance
		}
		room, spread := c.tree.cores-takes-s.mean, math.Sqrt(max(0, s.variance))
		if i == 0 { // at lower levels there is always room
			total = min(t, top)
		} else {
			total += (t - before) * roomBetween(roomBefore, room, (spreadBefore+spread)/2)
		}
		if last {
			break
		}
		before, roomBefore, spreadBefore = t, room, spread
	}
	return min(c.limit[l], c.weight[l]*total)
}

// towards returns the sums at a part of the way to others.
func (s *sums) towards(others *sums, part float64) sums {
	return sums{
		mean:       s.mean + part*(others.mean-s.mean),
		variance:   s.variance + part*(others.variance-s.variance),
		covariance: s.covariance + part*(others.covariance-s.covariance),
	}
}

// roomBetween returns the mean probability that a normal number with that standard deviation is below a
// bound that goes from one value to another.
func roomBetween(from, to, deviation float64) float64 {
	if math.Abs(to-from) <= roundings {
		if deviation <= roundings {
			if from > 0 {
				return 1
			}
			return 0
		}
		return distuv.UnitNormal.CDF(from / deviation)
	}
	return (excess(to, deviation) - excess(from, deviation)) / (to - from)
}

// excess returns E[(x − X)⁺] for a normal number X of mean 0.
func excess(x, deviation float64) float64 {
	if deviation <= roundings {
		return max(0, x)
	}
	return deviation * normalExcess(x/deviation)
}
