package queueing

import "math"

// invertLaplace returns f(t), t > 0, given the Laplace transform of f: the algorithm
// Euler of Abate and Whitt, "Numerical inversion of Laplace transforms of probability
// distributions", ORSA J. Computing 7 (1), 1995. f is smooth at t, and |f| ≤ 1. The
// error is about 1e-9.
func invertLaplace(transform func(s complex128) complex128, t float64) float64 {
	// The Fourier series is cut at terms[0] + terms of the binomial average, by
	// which Euler's summation speeds it up. The discretization error is below
	// e^−a, that of rounding about 1e-16·e^(a/2).
	const (
		a     = 23.0
		terms = 40
		euler = 14
	)
	term := func(k int) float64 {
		value := real(transform(complex(a/(2*t), float64(k)*math.Pi/t)))
		if k%2 == 1 {
			return -value
		}
		return value
	}
	sum := real(transform(complex(a/(2*t), 0))) / 2
	for k := 1; k <= terms; k++ {
		sum += term(k)
	}
	average, weight := 0.0, math.Pow(2, -euler)
	for k := 0; k <= euler; k++ {
		average += weight * sum
		weight *= float64(euler-k) / float64(k+1)
		sum += term(terms + k + 1)
	}
	return math.Exp(a/2) / t * average
}
