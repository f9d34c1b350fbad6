package interference

import (
	"math"

	"loadline.dev/loadline/pkg/model/loading"
)

// This file has the distribution of a pressure: the sum of the pressures of the threads that run at once. See inflation.go.

// pressures are the sums over threads from which the moments of a pressure are made: of q·u, and of the squares and
// cubes of q times powers of u.
type pressures struct {
	first           float64
	second          [2]float64
	third           [3]float64
	threads, bounds float64 // the number of threads that press, and the sum of their pressures
	// The excess probability that threads of one job run at once, over independence: sums over its pairs of q²·u², these times q,
	// and times the first of all of its threads; and over its triples of q³·u³.
	pairs, squares, crossed, triples float64
}

func (s *pressures) add(q, u, times float64) {
	if q*u < loading.MinLoading { // powers of less would underflow
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

// addTogether adds the threads of some jobs of several that run only while their job is awake, for that fraction of its time.
func (s *pressures) addTogether(q, u, awake float64, threads int, jobs float64) {
	n := float64(threads)
	s.add(q, u, jobs*n)
	if threads < 2 || awake >= 1 || q*u < loading.MinLoading {
		return
	}
	pairs := jobs * n * (n - 1) * q * q * u * u * (1/awake - 1)
	s.pairs += pairs
	s.squares += pairs * q
	s.crossed += pairs * n * q * u
	s.triples += jobs * n * (n - 1) * (n - 2) * q * q * q * u * u * u * (1/(awake*awake) - 1)
}

// pairsOf returns Σ q·u·q·u over pairs of different threads that run at once, squaresOf the same with q² of the first, and triplesOf
// that over triples: all in any order.
func (s *pressures) pairsOf() float64   { return s.first*s.first - s.second[1] + s.pairs }
func (s *pressures) squaresOf() float64 { return s.second[0]*s.first - s.third[1] + s.squares }
func (s *pressures) triplesOf() float64 {
	return s.first*s.first*s.first - 3*s.first*s.second[1] + 2*s.third[2] + 3*(s.pairs*s.first-s.crossed) + s.triples
}

// moments are the means of the pressure, its square and its cube, as polynomials in the pressure of one more thread that always
// runs where it shares servers with the others; without one that is 0.
type moments struct {
	mean   [2]float64
	square [3]float64
	cube   [4]float64
}

// moments returns the moments of the pressure of threads that share servers, and of threads with servers of their own, by the
// chances.
func (c *chances) moments(s, own *pressures) moments {
	pairs := s.pairsOf()
	m := moments{
		mean:   [2]float64{c[1][0] * s.first, c[1][0]},
		square: [3]float64{c[1][0]*s.second[0] + c[2][0]*pairs, 2 * c[2][0] * s.first, c[1][0]},
		cube: [4]float64{
			c[1][0]*s.third[0] + 3*c[2][0]*s.squaresOf() + c[3][0]*s.triplesOf(),
			3 * (c[2][0]*s.second[0] + c[3][0]*pairs), 3 * c[2][0] * s.first, c[1][0],
		},
	}
	if own.threads > 0 {
		ownPairs := own.pairsOf()
		m.mean[0] += c[0][1] * own.first
		m.square[0] += c[0][1]*own.second[0] + c[0][2]*ownPairs + 2*c[1][1]*s.first*own.first
		m.square[1] += 2 * c[1][1] * own.first
		m.cube[0] += c[0][1]*own.third[0] + 3*c[0][2]*own.squaresOf() + c[0][3]*own.triplesOf() +
			3*(c[1][1]*(s.second[0]*own.first+own.second[0]*s.first)+c[2][1]*pairs*own.first+c[1][2]*s.first*ownPairs)
		m.cube[1] += 3 * (c[1][1]*own.second[0] + 2*c[2][1]*s.first*own.first + c[1][2]*ownPairs)
		m.cube[2] += 3 * c[1][1] * own.first
	}
	return m
}

// values returns two values that stand for the pressure with one more thread of a pressure q, where the others' add up to no more
// than a limit, and the probability of the second: see [twoValues].
func (m *moments) values(q, limit float64) (low, high, chance float64) {
	mean := m.mean[0] + q*m.mean[1]
	if mean <= 0 {
		return 0, 0, 0
	}
	square := m.square[0] + q*(m.square[1]+q*m.square[2])
	cube := m.cube[0] + q*(m.cube[1]+q*(m.cube[2]+q*m.cube[3]))
	return twoValues(mean, max(0, square-mean*mean), cube-3*mean*square+2*mean*mean*mean, limit+q)
}

// slows returns the slowdown of service by the pressure, by a curve, on average, with one more thread as in values.
func (m *moments) slows(c loading.Curve, q, limit float64) float64 {
	low, high, chance := m.values(q, limit)
	return (1-chance)*c.Increase(low) + chance*c.Increase(high)
}

// level is the two values that stand for the pressure at one resource, and the probability of the higher one.
type level struct {
	curve     loading.Curve
	resource  int
	low, high float64
	chance    float64
}

// leastVariance is the variance, in proportion to the square of the mean, below which a pressure counts as constant: the rounding
// error.
const leastVariance = 1e-9

// twoValues returns two values from 0 to a limit, and the probability of the second, larger one, that have the given
// mean, variance and third central moment.
func twoValues(mean, variance, third, limit float64) (low, high, chance float64) {
	if variance <= leastVariance*mean*mean {
		return mean, mean, 1
	}
	sigma := math.Sqrt(variance)
	half := third / (variance * sigma) / 2
	root := math.Sqrt(1 + half*half)
	return max(0, mean+sigma*(half-root)), min(limit, mean+sigma*(half+root)), (1 - half/root) / 2
}
