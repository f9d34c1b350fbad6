package queueing

import "fmt"

// This file holds means in closed form, with which tests compare the distributions.

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
