// Package poissonbinomial has the distribution of a number of independent events, each
// with a probability of its own: how many threads are at a resource of a node when each is
// there for its own fraction of the time.
package poissonbinomial

// Distribution is a Poisson binomial distribution. Probabilities that are negligible at
// its ends are left out. Its zero value must be reset before use.
type Distribution struct {
	low         int       // the smallest number with a probability
	probability []float64 // of 0, 1, …; below low it is 0
	mean        float64
}

// negligible is a probability that is left out at the ends of a distribution. It is that
// small because [Distribution.Without] divides what is left out by how rare an event, or
// its absence, is, once at each of its first steps. almost is how rare that may be for
// Without to find the smallest probabilities of the others.
const (
	negligible = 1e-290
	almost     = 1e-9
)

// Reset removes every event, and keeps the memory: the number is 0 for certain.
func (d *Distribution) Reset() {
	d.low, d.mean = 0, 0
	d.probability = append(d.probability[:0], 1)
}

// Range returns the smallest and the largest number that are not negligible.
func (d *Distribution) Range() (low, high int) { return d.low, len(d.probability) - 1 }

// Probability returns the probabilities of 0, 1, … up to the largest number that is not
// negligible. They stay those of the distribution: the caller must not change them.
func (d *Distribution) Probability() []float64 { return d.probability }

// Mean returns the mean number, the sum of the probabilities of the events.
func (d *Distribution) Mean() float64 { return d.mean }

// Add adds an event with probability q, from 0 to 1, in O(n) time.
func (d *Distribution) Add(q float64) {
	d.mean += q
	p := Convolve(d.probability, q)
	for d.low < len(p)-1 && p[d.low] < negligible {
		p[d.low] = 0
		d.low++
	}
	for len(p)-1 > d.low && p[len(p)-1] < negligible {
		p = p[:len(p)-1]
	}
	d.probability = p
}

// Convolve returns what weights of the numbers 0, 1, … become when an event with
// probability q may add one. It works in place, where there is capacity.
func Convolve(weights []float64, q float64) []float64 {
	weights = append(weights, 0)
	for n := len(weights) - 1; n > 0; n-- {
		weights[n] = (1-q)*weights[n] + q*weights[n-1]
	}
	weights[0] *= 1 - q
	return weights
}

// Without makes it the distribution of all events but one, which has probability q, in
// O(n) time. It solves
//
//	all(n) = q · others(n−1) + (1 − q) · others(n)
//
// going up as long as the second term is the larger, and down from the top for
// the rest (the ratio of the terms falls with n, because the numbers are
// log-concave): what is subtracted is never more than half, so that only what was left
// out of all limits how exact the smallest probabilities are. An event that is almost
// impossible goes up all the way, one that is almost certain down: either damps errors,
// so that they stay those of rounding, but not relative to the smallest probabilities.
func (d *Distribution) Without(all *Distribution, q float64) {
	d.probability = append(d.probability[:0], all.probability...)
	p := d.probability
	d.low, d.mean = all.low, max(0, all.mean-q)
	n, below := d.low, 0.0
	up := func(n int) bool { return q < almost || q <= 1-almost && q*below <= p[n]/2 }
	for ; n < len(p) && up(n); n++ {
		p[n] = max(0, (p[n]-q*below)/(1-q))
		below = p[n]
	}
	above := 0.0
	for top := len(p) - 1; top >= n; top-- {
		p[top], above = above, max(0, (p[top]-(1-q)*above)/q)
	}
	if n == d.low && n > 0 { // all of it is one less
		d.low--
		p[d.low] = above
	}
}

// Excess returns E[(N + 1 − c)⁺], by how many one more exceeds c, at least 1, on average.
func (d *Distribution) Excess(c int) float64 {
	sum := 0.0
	for n := max(d.low, c); n < len(d.probability); n++ {
		sum += d.probability[n] * float64(n+1-c)
	}
	return sum
}
