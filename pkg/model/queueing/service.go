package queueing

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

// service is the distribution of the time that a server takes for a job.
type service interface {
	// excess returns the mean of max(0, time − t), t ≥ 0.
	excess(t float64) float64
	// within returns the probability of at most t ≥ 0.
	within(t float64) float64
	// transform returns the Laplace transform of its density.
	transform(s complex128) complex128
	// lateBecauseOf returns the probability that the service takes at most x ≥ 0, but
	// the wait before it and the service together take longer.
	lateBecauseOf(w wait, x float64) float64
}

// constantSCV is the squared coefficient of variation below which times are all the
// same.
const constantSCV = 1e-9

// newService returns the usual distribution with the given rate and squared
// coefficient of variation: constant for 0, gamma below 1, exponential for 1, a mix of
// two exponential ones above.
func newService(rate, scv float64) service {
	switch {
	case scv < constantSCV:
		return constant(1 / rate)
	case scv < 1:
		return gamma{1 / scv, rate / scv}
	case scv == 1:
		return exponential(rate)
	default:
		return newHyperexponential(rate, scv)
	}
}

// exponential is an exponential distribution; its value is the rate.
type exponential float64

func (e exponential) excess(t float64) float64 { return math.Exp(-float64(e)*t) / float64(e) }

func (e exponential) within(t float64) float64 { return -math.Expm1(-float64(e) * t) }

func (e exponential) transform(s complex128) complex128 {
	return complex(float64(e), 0) / (complex(float64(e), 0) + s)
}

func (e exponential) lateBecauseOf(w wait, x float64) float64 {
	return w.lateBecauseOf(float64(e), x)
}

// constant is the time that every job takes.
type constant float64

func (c constant) excess(t float64) float64 { return max(0, float64(c)-t) }

func (c constant) within(t float64) float64 {
	if t < float64(c) {
		return 0
	}
	return 1
}

func (c constant) transform(s complex128) complex128 { return cmplx.Exp(-s * complex(float64(c), 0)) }

func (c constant) lateBecauseOf(w wait, x float64) float64 {
	if x < float64(c) {
		return 0
	}
	return w.beyond(x - float64(c))
}

// hyperexponential is exponential with one of two rates. Both phases take half of the
// time: balanced means.
type hyperexponential struct {
	probability [2]float64
	phase       [2]exponential
}

func newHyperexponential(rate, scv float64) hyperexponential {
	root := math.Sqrt((scv - 1) / (scv + 1))
	short, long := (1+root)/2, 1/((scv+1)*(1+root)) // long is (1 − root)/2 without cancellation
	return hyperexponential{[2]float64{short, long}, [2]exponential{exponential(2 * short * rate), exponential(2 * long * rate)}}
}

func (h hyperexponential) excess(t float64) float64 {
	return h.probability[0]*h.phase[0].excess(t) + h.probability[1]*h.phase[1].excess(t)
}

func (h hyperexponential) within(t float64) float64 {
	return h.probability[0]*h.phase[0].within(t) + h.probability[1]*h.phase[1].within(t)
}

func (h hyperexponential) transform(s complex128) complex128 {
	return complex(h.probability[0], 0)*h.phase[0].transform(s) + complex(h.probability[1], 0)*h.phase[1].transform(s)
}

func (h hyperexponential) lateBecauseOf(w wait, x float64) float64 {
	return h.probability[0]*h.phase[0].lateBecauseOf(w, x) + h.probability[1]*h.phase[1].lateBecauseOf(w, x)
}

// gamma is a gamma distribution.
type gamma struct{ shape, rate float64 }

func (g gamma) excess(t float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return max(0, g.shape/g.rate*mathext.GammaIncRegComp(g.shape+1, g.rate*t)-t*mathext.GammaIncRegComp(g.shape, g.rate*t))
}

func (g gamma) within(t float64) float64 {
	if math.IsInf(t, 1) {
		return 1
	}
	return mathext.GammaIncReg(g.shape, g.rate*t)
}

func (g gamma) transform(s complex128) complex128 {
	return cmplx.Exp(complex(-g.shape, 0) * cmplx.Log(1+s/complex(g.rate, 0)))
}

// density returns that of a time t > 0.
func (g gamma) density(t float64) float64 {
	logarithm, _ := math.Lgamma(g.shape)
	return g.rate * math.Exp((g.shape-1)*math.Log(g.rate*t)-g.rate*t-logarithm)
}

// lateBecauseOf inverts the transform if there is one and the density is not too narrow;
// else it integrates over the service time. The range is cut around its mean, and
// in steps of 4 towards both ends: at 0 the density of a shape near 1 begins steeply, and at
// x the wait that is left is short and its probability may change fast.
func (g gamma) lateBecauseOf(w wait, x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return 0
	}
	const (
		points = 16
		smooth = 16 // shapes up to this one
	)
	if p, ok := w.(pollaczek); ok && g.shape <= smooth {
		return p.lateAfter(g, x)
	}
	mean, deviation := g.shape/g.rate, math.Sqrt(g.shape)/g.rate
	from, end := max(0, mean-8*deviation), min(x, mean+40*deviation)
	cuts := []float64{mean - 3*deviation, mean, mean + 3*deviation, mean + 8*deviation, end}
	for part := 1.0 / 4; part > 1.0/5000; part /= 4 {
		cuts = append(cuts, x*(1-part), end*part)
	}
	slices.Sort(cuts)
	sum := 0.0
	for _, cut := range cuts {
		if to := min(cut, end); to > from {
			sum += quad.Fixed(func(t float64) float64 { return g.density(t) * w.beyond(x-t) }, from, to, points, quad.Legendre{}, 0)
			from = to
		}
	}
	return min(1, sum)
}
