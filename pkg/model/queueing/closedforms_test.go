package queueing

// This file holds means in closed form, with which tests compare the distributions.

// MeanWait returns the mean waiting time.
func (q MMm) MeanWait() float64 { return q.delay().mean() }

// MeanResponse returns the mean time from arrival to completion.
func (q MMm) MeanResponse() float64 { return q.MeanWait() + 1/q.service }

// WaitBeyond returns the probability that a job waits longer than t ≥ 0:
// C·exp(−(m − ρ)μt).
func (q MMm) WaitBeyond(t float64) float64 { return q.delay().beyond(t) }

// MeanWait returns the mean waiting time of a job of whatever class.
func (q *MGm) MeanWait() float64 { return q.wait.mean() }

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
