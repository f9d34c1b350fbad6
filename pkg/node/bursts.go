package node

import (
	"math"

	"loadline.dev/loadline/pkg/model/loading"
)

// maxBurstRatio bounds by how much longer than usual, or shorter, bursts count where pods share cores by weights.
const maxBurstRatio = 1000

// shareBursts sets for how long pods compute at a time, relative to the geometric mean of those for which it is known: as long as
// that do the others.
func shareBursts(vectors []loading.Vector, cpu int, shares []loading.Share) {
	sum, known := 0.0, 0.0
	for _, v := range vectors {
		if cpu < len(v) && v[cpu].Burst > 0 {
			sum += math.Log(v[cpu].Burst)
			known++
		}
	}
	for j, v := range vectors {
		if cpu < len(v) && v[cpu].Burst > 0 {
			ratio := v[cpu].Burst / math.Exp(sum/known)
			shares[j].Burst = max(1.0/maxBurstRatio, min(ratio, maxBurstRatio))
		}
	}
}
