package queueing

import (
	"math"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// tilted is the number of others at a station with their own waiting taken into account. Jobs that wait stay
// longer, so that a full station is more likely than independent presence says.
// At a station that jobs leave for a while and come back to, the probability of
// n is in proportion to
//
//	independent(n) · Π_{l≤n} θ max(1, l/c) / h_l
//
// exactly so, with h = 1, when their time elsewhere does not depend on the number that are away (the
// finite-source queue). Where they queue there too, h_l is the time away when the l-th comes, relative to
// that at the mean. θ sets the mean: the solvers have the mean, and search for θ.
type tilted struct {
	mean, variance float64
	wait           expansion
}

// degenerate is a variance of the number of others as good as none.
const degenerate = 1e-12

// tiltedExpansion returns the wait expanded near the mean found, and the log θ to start from
// the next time. The mean grows with θ, so Newton's steps are kept between the
// largest θ known to be too small and the smallest known to be too large.
func tiltedExpansion(others *poissonbinomial.Distribution, servers int, logTheta, rest, found float64) (wait expansion, next float64) {
	if least, most := others.Range(); found <= float64(least) || found >= float64(most) {
		return certainExpansion(servers), 0
	}
	low, high := math.Inf(-1), math.Inf(1)
	for range 100 {
		seen := tilt(others, servers, logTheta, rest, found)
		short, variance := found-seen.mean, max(degenerate, seen.variance)
		next = logTheta + max(-1, min(1, short/variance))
		// A tenth of the deviation is near enough for the expansion, and the step
		// leads to the point itself for the next time.
		if short*short <= variance/100 {
			return seen.wait, next
		}
		if short > 0 {
			low = logTheta
		} else {
			high = logTheta
		}
		if next <= low || next >= high {
			next = (low + high) / 2
		}
		wait, logTheta = seen.wait, next
	}
	return wait, next
}

// tilt returns the number of others at a given log θ and number of servers, when the time
// away grows by a fraction rest with each one more away, from the mean found on.
// The sum goes outwards from the middle and ends where the terms, which have one
// peak, no longer matter.
func tilt(others *poissonbinomial.Distribution, servers int, logTheta, rest, found float64) tilted {
	theta := math.Exp(logTheta)
	ratio := func(n int) float64 { // of n to n − 1
		away := max(rest, 1+rest*(found-float64(n-1)))
		return theta * max(1, float64(n)/float64(servers)) / away
	}
	least, most := others.Range()
	probability := others.Probability()
	middle := max(least, min(int(math.Round(found)), most))
	m := moments{middle: middle, servers: servers, unit: 1}
	factor := 1.0
	for n := middle; n <= most; n++ {
		if n > middle {
			factor = m.keepSmall(factor * ratio(n))
		}
		if !m.add(n, probability[n]*factor) {
			break
		}
	}
	factor = m.unit
	for n := middle - 1; n >= least; n-- {
		factor = m.keepSmall(factor / ratio(n+1))
		if !m.add(n, probability[n]*factor) {
			break
		}
	}
	return m.tilted()
}

// moments are weighted sums over the possible numbers of others N, less the
// middle, and over how many of them have no server for one more, E = (N+1−c)⁺.
type moments struct {
	middle, servers int
	unit            float64 // the weight that stands for 1
	one, n, nn, nnn float64 // Σ 1, Σ N, Σ N², Σ N³
	busy            float64 // Σ 1 where N ≥ c
	e, en, enn      float64 // Σ E, Σ EN, Σ EN²
}

// add adds a term and reports whether it matters.
func (m *moments) add(n int, weight float64) bool {
	d := float64(n - m.middle)
	e := float64(max(0, n+1-m.servers))
	m.one += weight
	m.n += weight * d
	m.nn += weight * d * d
	m.nnn += weight * d * d * d
	m.e += weight * e
	if e > 0 {
		m.busy += weight
	}
	m.en += weight * e * d
	m.enn += weight * e * d * d
	return weight >= m.one*1e-16
}

// huge is a weight at which all are scaled down, since only ratios count.
const huge = 1e200

// keepSmall returns the weight, having scaled down everything if it is huge.
func (m *moments) keepSmall(weight float64) float64 {
	if weight <= huge {
		return weight
	}
	for _, sum := range []*float64{&m.unit, &m.one, &m.n, &m.nn, &m.nnn, &m.busy, &m.e, &m.en, &m.enn} {
		*sum /= huge
	}
	return weight / huge
}

// tilted returns the expansion about the means. As in every exponential family, the
// derivatives along θ are joint cumulants κ, so that
//
//	dE[E]/dE[N] = κ(E,N) / κ(N,N)
//	d²E[E]/dE[N]² = (κ(E,N,N) − κ(N,N,N) dE[E]/dE[N]) / κ(N,N)²
func (m *moments) tilted() tilted {
	n, nn, nnn := m.n/m.one, m.nn/m.one, m.nnn/m.one
	e, en, enn := m.e/m.one, m.en/m.one, m.enn/m.one
	c := float64(m.servers)
	t := tilted{mean: float64(m.middle) + n, variance: nn - n*n}
	if t.variance <= degenerate {
		t.wait = certainExpansion(m.servers)
		return t
	}
	slope := min(1, max(0, (en-e*n)/t.variance))
	third := nnn - 3*n*nn + 2*n*n*n
	mixed := enn - 2*n*en - e*nn + 2*n*n*e
	curvature := max(0, (mixed-slope*third)/(t.variance*t.variance))
	t.wait = newExpansion(m.servers, t.mean, e/c, slope/c, curvature/c)
	if m.busy > 0 {
		busy := m.busy / m.one
		t.wait.busy = busy / c
		t.wait.surplus = c - 1 + e/busy - t.mean
		t.wait.growth = t.wait.busy * t.wait.surplus / t.variance
	}
	return t
}
