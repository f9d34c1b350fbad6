package queueing

import "math"

// expansion is the wait of a job at a station as a function of the mean number of
// others that it finds there. With one server the wait is the mean. With more it
// is a convex function with a slope between 0 and 1/c, expanded to the second order
// about a mean near the one found.
type expansion struct {
	mean  float64 // the point of the expansion
	min   float64 // how far below the mean it is used, at most 0; below, the wait is constant
	max   float64 // how far above the mean it is used, at least 0; above, the slope is 1/c
	at    float64 // the wait at the mean
	first float64 // its derivative there, at least 0
	half  float64 // half its second derivative there, at least 0

	// What waitOfOne needs.
	limit   float64 // 1/c
	busy    float64 // the probability, at the mean, that all servers are busy, divided by c
	growth  float64 // its derivative there
	surplus float64 // how many more are there on average while all servers are busy
}

// identity is the wait at a station with one server.
var identity = expansion{first: 1}

// certainExpansion returns the wait at a station where the number found is certain:
// max(0, n + 1 − c) / c.
func certainExpansion(servers int) expansion {
	limit := 1 / float64(servers)
	return expansion{mean: float64(servers - 1), first: limit, limit: limit, growth: limit}
}

// newExpansion returns the wait at a station with a value, a slope and a curvature at a mean.
func newExpansion(servers int, mean, at, slope, curvature float64) expansion {
	e := expansion{mean: mean, min: -mean, max: math.Inf(1), at: at, first: slope, half: curvature / 2, limit: 1 / float64(servers)}
	if slope < curvature*mean {
		e.min = -slope / curvature
	}
	if curvature > 0 {
		e.max = max(0, e.limit-slope) / curvature
	}
	return e
}

// wait returns the wait. It is never negative and never falls as the mean grows.
func (e *expansion) wait(mean float64) float64 {
	d, beyond := mean-e.mean, 0.0
	if e.half > 0 {
		if d > e.max {
			beyond = (d - e.max) * e.limit
		}
		d = max(e.min, min(e.max, d))
	}
	return max(0, e.at+d*(e.first+d*e.half)+beyond)
}

// slope returns the derivative of the wait by the mean.
func (e *expansion) slope(mean float64) float64 {
	if e.half > 0 {
		return e.first + 2*e.half*max(e.min, min(e.max, mean-e.mean))
	}
	if e.at+(mean-e.mean)*e.first < 0 {
		return 0
	}
	return e.first
}

// waitOfOne returns the wait of a thread that is itself one of the N others that are
// found. It is there with probability q, and with probability b while all servers are
// busy. It does not find itself: with B = 1 while it is there, and 0 otherwise,
//
//	c·W = E[(N − B + 1 − c)⁺] = E[(N + 1 − c)⁺] − b·P(N ≥ c)
//
// Since it adds to N, q·c·W is at most E[(N − c)⁺]: where there are no more than c
// others the wait is 0, even though b is an approximation. The mean is that of N − B;
// near the mean of the expansion its functions are taken to the first order.
func (e *expansion) waitOfOne(mean, q, b float64) float64 {
	d := mean + q - e.mean
	wait := max(0, e.at+d*e.first)
	busy := max(0, min(e.limit, e.busy+d*e.growth))
	beyond := max(0, wait-busy) // E[(N − c)⁺] / c
	wait = max(0, wait-min(1, b)*busy)
	if beyond < q*wait {
		return beyond / q
	}
	return wait
}

// expandWaits expands the waits at the stations with many servers anew, about the
// present means.
func (a *approximation) expandWaits() {
	for i, servers := range a.servers {
		if servers == 1 {
			continue
		}
		rest := a.rest(i)
		a.everyone.Reset()
		for x := i; x < len(a.presence); x += a.m {
			for range int(a.threads[x]) {
				a.everyone.Add(a.presence[x])
			}
		}
		for x := i; x < len(a.presence); x += a.m {
			a.others.Without(&a.everyone, a.presence[x])
			a.expansions[x], a.tilts[x] = tiltedExpansion(&a.others, servers, a.tilts[x], rest, a.found(x, i))
		}
	}
}

// rest returns by what fraction the time that jobs spend away from station i
// grows with each one more that is away, because they queue there too. Jobs count
// by how much they vary the number at station i, and do not queue for themselves.
func (a *approximation) rest(i int) float64 {
	away, time, growth := 0.0, 0.0, 0.0
	there, slopes := a.sums, a.slopes
	clear(there)
	clear(slopes)
	for row := 0; row < len(a.presence); row += a.m {
		presence, threads := a.presence[row+i], a.threads[row+i]
		weight := presence * (1 - presence) // of one thread
		if weight*threads == 0 {
			continue
		}
		away += threads * weight * (1 - presence)
		time += threads * weight * (1 - presence) * a.dilation[row/a.m]
		for l := range a.m {
			if x := row + l; l != i {
				slope := weight * threads * a.demand[x] * a.expansions[x].slope(a.found(x, l))
				slopes[l] += slope
				there[l] += weight * a.threads[x] * a.presence[x]
				growth -= slope * weight * a.presence[x] // itself
			}
		}
	}
	for l := range a.m {
		growth += slopes[l] * there[l]
	}
	if growth <= 0 {
		return 0
	}
	return growth / away / time
}
