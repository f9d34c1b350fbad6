package queueing

import "math"

// wait is the distribution of a waiting time.
type wait interface {
	// beyond returns the probability of more than t ≥ 0.
	beyond(t float64) float64
	// lateBecauseOf returns the probability that an exponentially distributed service
	// with the given rate takes at most x, but wait and service together take longer.
	lateBecauseOf(service, x float64) float64
}

// delays is a waiting time that is 0 or, each with a probability, exponentially
// distributed with one of several rates.
type delays []delay

func (d delays) beyond(t float64) float64 {
	sum := 0.0
	for _, part := range d {
		sum += part.beyond(t)
	}
	return sum
}

func (d delays) lateBecauseOf(service, x float64) float64 {
	sum := 0.0
	for _, part := range d {
		sum += part.lateBecauseOf(service, x)
	}
	return sum
}

// stretched returns the waiting time that is longer by a factor.
func (d delays) stretched(factor float64) delays {
	longer := make(delays, len(d))
	for i, part := range d {
		longer[i] = delay{part.waits, part.rate / factor}
	}
	return longer
}

// pollaczek is the waiting time of a queue with one server and any service times. With ρ
// the utilization and R the transform of the residual service time, it has the transform
// (1 − ρ)/(1 − ρR): Pollaczek and Khinchine.
type pollaczek struct {
	*mixture
}

// busy returns the utilization ρ.
func (p pollaczek) busy() float64 { return p.arrival / p.service }

// residualTransform returns ρR(s) = λ(1 − B(s))/s, B being that of the service time.
func (p pollaczek) residualTransform(s complex128) complex128 {
	shares, sum := p.shares(), complex(0, 0)
	for k, service := range p.services {
		sum += complex(shares[k], 0) * (1 - service.transform(s))
	}
	return complex(p.arrival, 0) * sum / s
}

// beyond subtracts the wait for the job in service alone from the distribution, because it has
// corners where service times are constant, and inverts the transform of the rest, which has none.
func (p pollaczek) beyond(t float64) float64 {
	busy := p.busy()
	switch {
	case !(t > 0):
		return busy
	case math.IsInf(t, 1):
		return 0
	}
	excess := 0.0
	for k, share := range p.shares() {
		excess += share * p.services[k].excess(t)
	}
	rest := invertLaplace(func(s complex128) complex128 {
		residual := p.residualTransform(s)
		return (complex(busy, 0) - residual) / s * (1/(1-residual) - complex(1-busy, 0))
	}, t)
	return min(busy, max(0, (1-busy)*p.arrival*excess+rest))
}

func (p pollaczek) lateBecauseOf(service, x float64) float64 {
	return p.lateAfter(exponential(service), x)
}

// lateAfter is lateBecauseOf for a service whose distribution is smooth on the scale of x.
func (p pollaczek) lateAfter(after service, x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return 0
	}
	busy := complex(p.busy(), 0)
	late := invertLaplace(func(s complex128) complex128 {
		residual := p.residualTransform(s)
		return (busy - residual) / (s * (1 - residual)) * after.transform(s)
	}, x)
	return min(p.busy(), max(0, late))
}
