package queueing

import "math"

// delay is a waiting time that is 0, or exponentially distributed.
type delay struct {
	waits float64 // the probability of the latter
	rate  float64 // of the latter
}

func (d delay) beyond(t float64) float64 { return d.waits * math.Exp(-d.rate*max(0, t)) }

// lateBecauseOf returns the probability that an exponentially distributed service after the
// delay takes at most x, but delay and service together take longer: with w the rate of the
// delay
//
//	C·μ·(e^(−μx) − e^(−wx))/(w − μ)
//
// the fraction being x·e^(−μx)·φ((w − μ)x), which is symmetric in w and μ.
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
