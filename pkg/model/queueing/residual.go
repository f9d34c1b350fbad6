package queueing

import "math"

// residual is the distribution of the residual service time of a job of a mix, that a
// moment at random finds in service.
type residual struct {
	times  []float64 // at equal steps of their logarithms
	beyond []float64 // the logarithms of the probabilities of more
}

// The steps of the logarithm of time: the integrals over them, of functions that are
// smooth but for a corner where times are constant, are accurate to 1e-4 or better.
const (
	residualStep = 1.0 / 8
	residualFrom = -26 // relative to the mean service time: 5e-12
	residualTo   = 18
)

func newResidual(x *mixture) *residual {
	r, shares, mean := &residual{}, x.shares(), 1/x.service
	for v := float64(residualFrom); v <= residualTo; v += residualStep {
		t := mean * math.Exp(v)
		excess := 0.0
		for k, s := range x.services {
			excess += shares[k] * s.excess(t)
		}
		r.times = append(r.times, t/mean)
		r.beyond = append(r.beyond, math.Log(min(1, excess/mean)))
	}
	return r
}

// shortest returns the mean of the shortest of m independent residual times, relative
// to the mean service time.
func (r *residual) shortest(m int) float64 {
	sum := 0.0
	for i, t := range r.times {
		sum += t * math.Exp(float64(m)*r.beyond[i]) * residualStep
	}
	return sum
}
