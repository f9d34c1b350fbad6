package throttling

import "math"

// steps is how often a bisection halves the range of the logarithm of its unknown.
const steps = 16

// Bursts that are looked for, in seconds. Shorter ones add less than a thousandth to the average, and longer ones nothing.
const minBurst, maxBurst = 1e-6, 1e3

// Fitted returns the load with the burst at which a limit, above 0, stretches it as observed: 0 where the average stretches it
// as much, and bursts of the longest that matter where none stretches it as much.
func (l Load) Fitted(limit, stretch float64) Load {
	low, high := minBurst, maxBurst
	if stretch <= l.Average(limit) || limit >= l.threads() {
		l.Burst = 0
		return l
	}
	for range steps {
		l.Burst = math.Sqrt(low * high)
		if l.Stretch(limit) < stretch {
			low = l.Burst
		} else {
			high = l.Burst
		}
	}
	return l
}
