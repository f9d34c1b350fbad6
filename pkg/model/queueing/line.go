package queueing

import "math"

// line is what a job waits at a station as a function of the mean number of
// others that it finds there. With one server the wait is the mean. With more it
// is a convex function with a slope between 0 and 1/c, taken to the second order at
// a mean near the one found.
type line struct {
	mean  float64 // where it is drawn
	least float64 // how far below that it is followed, at most 0; beyond it is level
	most  float64 // how far above that it is followed, at least 0; beyond it is straight
	at    float64 // the wait at the mean
	first float64 // its derivative there, at least 0
	half  float64 // half its second derivative there, at least 0

	// What waitOfOne needs.
	limit   float64 // 1/c
	busy    float64 // the probability, at the mean, that all servers are busy, divided by c
	growth  float64 // its derivative there
	surplus float64 // how many more are there on average while all servers are busy
}

// straight is the line of a station with one server.
var straight = line{first: 1}

// certainLine returns the line of a station where the number found is certain:
// max(0, n + 1 − c) / c.
func certainLine(servers int) line {
	limit := 1 / float64(servers)
	return line{mean: float64(servers - 1), first: limit, limit: limit, growth: limit}
}

// newLine returns the line of a station through a point with a slope and a curvature.
func newLine(servers int, mean, at, slope, curvature float64) line {
	l := line{mean: mean, least: -mean, most: math.Inf(1), at: at, first: slope, half: curvature / 2, limit: 1 / float64(servers)}
	if slope < curvature*mean {
		l.least = -slope / curvature
	}
	if curvature > 0 {
		l.most = max(0, l.limit-slope) / curvature
	}
	return l
}

// wait returns the wait. It is never negative and never falls as the mean grows.
func (l *line) wait(mean float64) float64 {
	d, beyond := mean-l.mean, 0.0
	if l.half > 0 {
		if d > l.most {
			beyond = (d - l.most) * l.limit
		}
		d = max(l.least, min(l.most, d))
	}
	return max(0, l.at+d*(l.first+d*l.half)+beyond)
}

// slope returns the derivative of the wait by the mean.
func (l *line) slope(mean float64) float64 {
	if l.half > 0 {
		return l.first + 2*l.half*max(l.least, min(l.most, mean-l.mean))
	}
	if l.at+(mean-l.mean)*l.first < 0 {
		return 0
	}
	return l.first
}

// waitOfOne returns the wait of a thread that is itself one of the N others of the
// line. It is there with probability q, and with probability b while all servers are
// busy. It does not find itself: with B = 1 while it is there, and 0 otherwise,
//
//	c·W = E[(N − B + 1 − c)⁺] = E[(N + 1 − c)⁺] − b·P(N ≥ c)
//
// Since it adds to N, q·c·W is at most E[(N − c)⁺]: where there are no more than c
// others the wait is 0, even though b is an approximation. The mean is that of N − B;
// near the mean of the line its functions are taken to the first order.
func (l *line) waitOfOne(mean, q, b float64) float64 {
	d := mean + q - l.mean
	wait := max(0, l.at+d*l.first)
	busy := max(0, min(l.limit, l.busy+d*l.growth))
	beyond := max(0, wait-busy) // E[(N − c)⁺] / c
	wait = max(0, wait-min(1, b)*busy)
	if beyond < q*wait {
		return beyond / q
	}
	return wait
}

// drawLines draws the lines of the stations with many servers anew, from who is
// there now.
func (a *approximation) drawLines() {
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
			a.lines[x], a.tilts[x] = tiltedLine(&a.others, servers, a.tilts[x], rest, a.found(x, i))
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
				slope := weight * threads * a.demand[x] * a.lines[x].slope(a.found(x, l))
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
