package contention

import (
	"math"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// This file has the distribution of a pressure: of the sum of what the threads press that run at once. See inflation.go.

// pressures are the sums over threads from which the moments of a pressure are made: of q·u, and of the squares and
// cubes of q times powers of u.
type pressures struct {
	first           float64
	second          [2]float64
	third           [3]float64
	threads, bounds float64 // the number of threads that press, and the sum of their pressures
}

func (s *pressures) add(q, u, times float64) {
	if q*u < leastLoading { // powers of less would underflow
		return
	}
	s.first += times * q * u
	s.second[0] += times * q * q * u
	s.second[1] += times * q * q * u * u
	s.third[0] += times * q * q * q * u
	s.third[1] += times * q * q * q * u * u
	s.third[2] += times * q * q * q * u * u * u
	s.threads += times
	s.bounds += times * q
}

// cumulants adds the first three of the pressure of threads of which one, two and three run at once as the chances say, each
// in the domain with probability δ.
func (s *pressures) cumulants(c chances, domain float64, to *[3]float64) {
	one, two, three := c[0]*domain, c[1]*domain*domain, c[2]*domain*domain*domain
	mean := one * s.first
	square := one*s.second[0] + two*(s.first*s.first-s.second[1])
	cube := one*s.third[0] + 3*two*(s.second[0]*s.first-s.third[1]) +
		three*(s.first*s.first*s.first-3*s.first*s.second[1]+2*s.third[2])
	to[0] += mean
	to[1] += max(0, square-mean*mean)
	to[2] += cube - 3*mean*square + 2*mean*mean*mean
}

// chances are E[M]/E[N], E[M(M−1)]/E[N(N−1)] and E[M(M−1)(M−2)]/E[N(N−1)(N−2)], where M of N threads run.
type chances [3]float64

// allRun are the chances of threads with a core each.
var allRun = chances{1, 1, 1}

// newChances returns those of threads, their number having that distribution, on some servers.
func newChances(threads *poissonbinomial.Distribution, servers int) chances {
	var found, running [3]float64
	low, high := threads.Range()
	if servers == 0 {
		return chances{}
	}
	if high <= servers {
		return allRun
	}
	for n := low; n <= high; n++ {
		p, a, b := threads.Probability()[n], float64(n), float64(min(n, servers))
		found[0] += p * a
		found[1] += p * a * (a - 1)
		found[2] += p * a * (a - 1) * (a - 2)
		running[0] += p * b
		running[1] += p * b * (b - 1)
		running[2] += p * b * (b - 1) * (b - 2)
	}
	var c chances
	for k := range c {
		if found[k] > 0 {
			c[k] = running[k] / found[k]
		}
	}
	return c
}

// domainChance returns the probability that a thread that runs beside another is in the same of some equal domains.
func domainChance(cores, domains int) float64 {
	if cores < 2 || domains < 2 {
		return 1
	}
	return max(0, float64(cores)/float64(domains)-1) / float64(cores-1)
}

// level is the two values that stand for the pressure at one resource, and the probability of the higher one.
type level struct {
	curve     Curve
	resource  int
	low, high float64
	chance    float64
}

// leastVariance is the variance, in proportion to the square of the mean, below which a pressure is constant: what
// rounding leaves of it.
const leastVariance = 1e-9

// twoValues returns two values from 0 to a limit, and the probability of the second, larger one, that have the given
// mean, variance and third central moment.
func twoValues(cumulants [3]float64, limit float64) (low, high, chance float64) {
	mean, variance := cumulants[0], cumulants[1]
	if variance <= leastVariance*mean*mean {
		return mean, mean, 1
	}
	sigma := math.Sqrt(variance)
	half := cumulants[2] / (variance * sigma) / 2
	root := math.Hypot(1, half)
	return max(0, mean+sigma*(half-root)), min(limit, mean+sigma*(half+root)), (1 - half/root) / 2
}
