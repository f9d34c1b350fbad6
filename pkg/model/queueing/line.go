package queueing

// line is what a job waits at a station as a function of the mean number of
// others that it finds there. With one server the wait is the mean. With more it
// is a convex function, taken to the second order at a mean near the one found.
type line struct {
	mean  float64 // where it is drawn
	least float64 // how far below that it is followed, at most 0; beyond it is level
	at    float64 // the wait at the mean
	first float64 // its derivative there, at least 0
	half  float64 // half its second derivative there, at least 0
}

// straight is the line of a station with one server, level that of a station at
// which nobody waits.
var straight, level = line{first: 1}, line{}

// newLine returns the line through a point with a slope and a curvature.
func newLine(mean, at, slope, curvature float64) line {
	l := line{mean: mean, least: -mean, at: at, first: slope, half: curvature / 2}
	if slope < curvature*mean {
		l.least = -slope / curvature
	}
	return l
}

// wait returns the wait. It is never negative and never falls as the mean grows.
func (l *line) wait(mean float64) float64 {
	d := mean - l.mean
	if d < l.least {
		d = l.least
	}
	if wait := l.at + d*(l.first+d*l.half); wait > 0 {
		return wait
	}
	return 0
}

// slope returns the derivative of the wait by the mean.
func (l *line) slope(mean float64) float64 { return l.first + 2*l.half*max(l.least, mean-l.mean) }

// drawLines draws the lines of the stations with many servers anew, from who is
// there now.
func (a *approximation) drawLines() {
	for i, servers := range a.servers {
		if servers == 1 {
			continue
		}
		rest := a.rest(i)
		a.everyone.empty()
		for x := i; x < len(a.presence); x += a.m {
			for range int(a.threads[x]) {
				a.everyone.add(a.presence[x])
			}
		}
		for x := i; x < len(a.presence); x += a.m {
			if a.threads[x] > 0 {
				a.others.without(&a.everyone, a.presence[x])
				a.lines[x], a.tilts[x] = a.others.line(servers, a.tilts[x], rest, a.found(x, i))
			}
		}
	}
}

// rest returns by what fraction the time that jobs spend away from station i
// grows with each one more that is away, because they queue there too. Jobs count
// by how much they vary the number at station i.
func (a *approximation) rest(i int) float64 {
	away, time := 0.0, 0.0
	there, slopes := a.sums, a.slopes
	clear(there)
	clear(slopes)
	for row := 0; row < len(a.presence); row += a.m {
		weight := a.threads[row+i] * a.presence[row+i] * (1 - a.presence[row+i])
		if weight == 0 {
			continue
		}
		away += weight * (1 - a.presence[row+i])
		time += weight * a.idle[row/a.m]
		for l := range a.m {
			if l != i {
				time += weight * a.demand[row+l] * (1 + a.waits[row+l])
				slopes[l] += weight * a.demand[row+l] * a.lines[row+l].first
				there[l] += weight * a.presence[row+l]
			}
		}
	}
	growth := 0.0
	for l := range a.m {
		growth += slopes[l] * there[l]
	}
	if growth == 0 {
		return 0
	}
	return growth / away / time
}
