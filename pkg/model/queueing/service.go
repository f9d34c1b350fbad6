package queueing

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

// service is the distribution of the time that a server takes for a job.
type service interface {
	// beyond returns the probability of more than t ≥ 0.
	beyond(t float64) float64
	// excess returns the mean of max(0, time − t), t ≥ 0.
	excess(t float64) float64
	// beyondAfter returns the probability that a delay and the service after it take
	// more than x ≥ 0 together.
	beyondAfter(d delay, x float64) float64
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

func (e exponential) beyond(t float64) float64 { return math.Exp(-float64(e) * t) }

func (e exponential) excess(t float64) float64 { return e.beyond(t) / float64(e) }

func (e exponential) beyondAfter(d delay, x float64) float64 { return d.beyondWith(float64(e), x) }

// constant is the time that every job takes.
type constant float64

func (c constant) beyond(t float64) float64 {
	if t < float64(c) {
		return 1
	}
	return 0
}

func (c constant) excess(t float64) float64 { return max(0, float64(c)-t) }

func (c constant) beyondAfter(d delay, x float64) float64 {
	if x < float64(c) {
		return 1
	}
	return d.beyond(x - float64(c))
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

func (h hyperexponential) beyond(t float64) float64 {
	return h.probability[0]*h.phase[0].beyond(t) + h.probability[1]*h.phase[1].beyond(t)
}

func (h hyperexponential) excess(t float64) float64 {
	return h.probability[0]*h.phase[0].excess(t) + h.probability[1]*h.phase[1].excess(t)
}

func (h hyperexponential) beyondAfter(d delay, x float64) float64 {
	return h.probability[0]*h.phase[0].beyondAfter(d, x) + h.probability[1]*h.phase[1].beyondAfter(d, x)
}

// gamma is a gamma distribution.
type gamma struct{ shape, rate float64 }

func (g gamma) beyond(t float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return mathext.GammaIncRegComp(g.shape, g.rate*t)
}

func (g gamma) excess(t float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return max(0, g.shape/g.rate*mathext.GammaIncRegComp(g.shape+1, g.rate*t)-t*mathext.GammaIncRegComp(g.shape, g.rate*t))
}

// beyondAfter integrates over the delay. The integrand falls where the rest of x
// comes to the mean; the range is cut there, and some standard deviations before and
// after.
func (g gamma) beyondAfter(d delay, x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	sum := (1-d.waits)*g.beyond(x) + d.beyond(x)
	if d.waits == 0 {
		return sum
	}
	const (
		points    = 24
		forgotten = 40 // exp(−40) is nothing
	)
	end := min(x, forgotten/d.rate)
	mean, deviation := g.shape/g.rate, math.Sqrt(g.shape)/g.rate
	from := 0.0
	for _, cut := range []float64{x - mean - 8*deviation, x - mean - 3*deviation, x - mean, x - mean + 3*deviation, end / 8, end / 3, end} {
		to := min(max(cut, from), end)
		if to > from {
			sum += quad.Fixed(func(u float64) float64 {
				return d.waits * d.rate * math.Exp(-d.rate*u) * g.beyond(x-u)
			}, from, to, points, quad.Legendre{}, 0)
		}
		from = max(from, to)
	}
	return min(1, sum)
}
