package fairshare

import "gonum.org/v1/gonum/integrate/quad"

// erlang is an M/M/m queue of any load: what the workloads of the highest priorities
// are together, whatever their order.
type erlang struct{ servers int }

// waiting returns Erlang's C, the probability that a job waits, and its derivative by
// the load.
func (q *erlang) waiting(load float64) (c, slope float64) {
	m := float64(q.servers)
	blocked, before := 1.0, 0.0 // Erlang's B, with k servers and with one fewer
	for k := 1; k <= q.servers; k++ {
		before = blocked
		blocked = load * before / (float64(k) + load*before)
	}
	// B' = B(m/load − 1 + B), and B/load = before/(m + load·before).
	blockedSlope := m*before/(m+load*before) - blocked*(1-blocked)
	busy := m - load*(1-blocked)
	c = m * blocked / busy
	slope = m * (blockedSlope*busy + blocked*(1-blocked) - blocked*load*blockedSlope) / (busy * busy)
	return c, slope
}

// number returns the mean number of jobs N(load).
func (q *erlang) number(load float64) float64 {
	c, _ := q.waiting(load)
	return load + c*load/(float64(q.servers)-load)
}

// marginal returns the derivative of number.
func (q *erlang) marginal(load float64) float64 {
	c, slope := q.waiting(load)
	left := float64(q.servers) - load
	return 1 + (slope*load+c)/left + c*load/(left*left)
}

// rise returns (N(load + own) − N(load)) / own; its limit, the derivative, for own = 0.
func (q *erlang) rise(load, own float64) float64 {
	load = max(load, 0) // it may be a rounding error below
	left := float64(q.servers) - load
	if own < unit*left {
		return q.marginal(load)
	}
	// The difference of close numbers has no digits; the mean of the derivative has,
	// and few points are exact when its pole is far.
	const far, points = 20, 8
	if far*own < left {
		from := func(by float64) float64 { return q.marginal(load + by) }
		return quad.Fixed(from, 0, own, points, quad.Legendre{}, 0) / own
	}
	return (q.number(load+own) - q.number(load)) / own
}
