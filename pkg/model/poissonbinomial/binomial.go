package poissonbinomial

import "math"

// Binomial returns the probabilities of low, low + 1, … events among n ≥ 0 independent ones of the same probability q, from 0
// to 1: what [Distribution.Add] makes of them one by one, in O(√n) time for all. Probabilities at both ends are left out that are
// less than 1e-20 of the largest.
//
// It goes up and down from the most probable number, P(y+1)/P(y) = (n−y)/(y+1) · q/(1−q), and so adds and multiplies only
// positive numbers.
func Binomial(n int, q float64) (low int, probability []float64) {
	switch {
	case q <= 0:
		return 0, []float64{1}
	case q >= 1:
		return n, []float64{1}
	}
	mode := min(n, int(float64(n+1)*q))
	odds := q / (1 - q)
	var above []float64 // of mode + 1, mode + 2, … beside that of the mode
	for y, p := mode, 1.0; y < n; y++ {
		if p *= float64(n-y) / float64(y+1) * odds; p < leftOut {
			break
		}
		above = append(above, p)
	}
	low = mode
	var below []float64
	for y, p := mode, 1.0; y > 0; y-- {
		if p *= float64(y) / float64(n-y+1) / odds; p < leftOut {
			break
		}
		below, low = append(below, p), y-1
	}
	probability = make([]float64, 0, len(below)+1+len(above))
	for k := range below {
		probability = append(probability, below[len(below)-1-k])
	}
	probability = append(append(probability, 1), above...)
	sum := 0.0
	for _, p := range probability {
		sum += p
	}
	for k := range probability {
		probability[k] /= sum
	}
	return low, probability
}

// leftOut is which part of the largest probability is left out.
const leftOut = 1e-20

// Points returns at most limit numbers, at least 3, and their weights, which add up to 1, that stand for a distribution given by
// its probabilities from low on, all of which add up to 1: for itself where it has no more numbers, else each for a run of
// neighbours, by their mean. The runs are equally wide but for the first and the last, which have all that is farther from the
// mean than six standard deviations. The mean of the distribution is kept, and its variance to a fraction of about 12/limit².
func Points(low int, probability []float64, limit int) (at, weight []float64) {
	if len(probability) <= limit {
		for k := range probability {
			at = append(at, float64(low+k))
		}
		return at, probability
	}
	mean, variance := 0.0, 0.0
	for k, p := range probability {
		mean += p * float64(low+k)
	}
	for k, p := range probability {
		variance += p * (float64(low+k) - mean) * (float64(low+k) - mean)
	}
	runs := limit - 2
	width := max(1, 12*math.Sqrt(variance)/float64(runs))
	start := mean - width*float64(runs)/2
	at, weight = make([]float64, limit), make([]float64, limit)
	for k, p := range probability {
		n := float64(low + k)
		run := int(max(0, min(float64(limit-1), 1+math.Floor((n-start)/width))))
		at[run] += p * n
		weight[run] += p
	}
	kept := 0
	for run, w := range weight {
		if w > 0 {
			at[kept], weight[kept] = at[run]/w, w
			kept++
		}
	}
	return at[:kept], weight[:kept]
}
