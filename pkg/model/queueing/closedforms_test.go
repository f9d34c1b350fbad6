package queueing

import (
	"fmt"
	"math"
)

// This file holds means in closed form and their complements, with which tests compare the
// distributions.

// ResponseBeyond returns the probability that a job takes longer than x ≥ 0, in a form
// that is accurate where it is small.
func (q MMm) ResponseBeyond(x float64) float64 {
	return min(1, math.Exp(-q.service*max(0, x))+q.delay().lateBecauseOf(q.service, x))
}

// ResponseBeyond returns the probability that a job of class k takes longer than x ≥ 0.
func (q *MGm) ResponseBeyond(k int, x float64) float64 { return 1 - q.ResponseWithin(k, x) }

// ResponseBeyond returns the probability that a job of class k takes longer than x ≥ 0.
func (p *Priority) ResponseBeyond(k int, x float64) float64 { return 1 - p.ResponseWithin(k, x) }

// MeanWait returns the mean waiting time.
func (q MMm) MeanWait() float64 { return delays{q.delay()}.mean() }

// MeanResponse returns the mean time from arrival to completion.
func (q MMm) MeanResponse() float64 { return q.MeanWait() + 1/q.service }

// WaitBeyond returns the probability that a job waits longer than t ≥ 0:
// C·exp(−(m − ρ)μt).
func (q MMm) WaitBeyond(t float64) float64 { return q.delay().beyond(t) }

// MeanWait returns the mean waiting time of a job of whatever class.
func (q *MGm) MeanWait() float64 { return meanOf(q.wait) }

// MeanWait returns the mean waiting time of class k: Cobham, "Priority assignment in
// waiting line problems", Operations Research 2 (1), 1954.
func (p *Priority) MeanWait(k int) float64 {
	capacity := float64(p.queue.servers) * p.queue.service
	above := p.higher(k) / capacity
	upTo := above + p.arrivals[k]/capacity
	return p.queue.waits / (capacity * (1 - above) * (1 - upTo))
}

// MeanResponse returns the mean time from arrival to completion of class k.
func (p *Priority) MeanResponse(k int) float64 { return p.MeanWait(k) + 1/p.queue.service }

// meanOf returns the mean of a waiting time.
func meanOf(w wait) float64 {
	switch w := w.(type) {
	case delays:
		return w.mean()
	case pollaczek:
		return w.mean()
	default:
		panic(fmt.Sprintf("no mean of a %T is known", w))
	}
}

func (d delays) mean() float64 {
	sum := 0.0
	for _, part := range d {
		if part.waits > 0 {
			sum += part.waits / part.rate
		}
	}
	return sum
}

// mean is the formula of Pollaczek and Khinchine.
func (p pollaczek) mean() float64 {
	return p.busy() * (1 + p.scv) / (2 * p.service * (1 - p.busy()))
}
