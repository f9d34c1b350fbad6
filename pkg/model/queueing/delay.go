package queueing

import "math"

// delay is a waiting time that is 0, or exponentially distributed.
type delay struct {
	waits float64 // the probability of the latter
	rate  float64 // of the latter
}

func (d delay) mean() float64 {
	if d.waits == 0 {
		return 0
	}
	return d.waits / d.rate
}

func (d delay) beyond(t float64) float64 { return d.waits * math.Exp(-d.rate*max(0, t)) }

func (d delay) quantile(p float64) float64 {
	if !(p < 1) {
		return math.Inf(1)
	}
	if 1-p >= d.waits {
		return 0
	}
	return math.Log(d.waits/(1-p)) / d.rate
}

// beyondWith returns the probability that the delay and an exponentially distributed
// service after it take longer than x together: with w the rate of the delay
//
//	e^(−μx) + C·μ·(e^(−μx) − e^(−wx))/(w − μ)
//
// the fraction being x·e^(−μx)·φ((w − μ)x), which is symmetric in w and μ.
func (d delay) beyondWith(service, x float64) float64 {
	return min(1, math.Exp(-service*max(0, x))+d.lateBecauseOf(service, x))
}

// withinWith returns 1 less beyondWith, in a form that is accurate where it is small.
func (d delay) withinWith(service, x float64) float64 {
	return max(0, -math.Expm1(-service*max(0, x))-d.lateBecauseOf(service, x))
}

// lateBecauseOf returns the probability that the service takes at most x, but delay
// and service together take longer.
func (d delay) lateBecauseOf(service, x float64) float64 {
	if d.waits == 0 || !(x > 0) || math.IsInf(x, 1) {
		return 0
	}
	slower := min(service, d.rate)
	z := math.Abs(d.rate-service) * x
	return d.waits * service * x * math.Exp(-slower*x) * phi(z)
}

// phi returns (1 − e^(−z))/z for z ≥ 0.
func phi(z float64) float64 {
	if z == 0 {
		return 1
	}
	return -math.Expm1(-z) / z
}

// quantile inverts a distribution, of which beyond is the probability of more than x
// and scale some typical value: the least x that is exceeded with probability 1 − p
// at most, by bisection to the last bit or two.
func quantile(p, scale float64, beyond func(x float64) float64) float64 {
	if !(p < 1) {
		return math.Inf(1)
	}
	if beyond(0) <= 1-p {
		return 0
	}
	low, high := 0.0, scale
	for beyond(high) > 1-p {
		low, high = high, 2*high
	}
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return high
		}
		if beyond(middle) > 1-p {
			low = middle
		} else {
			high = middle
		}
	}
}
