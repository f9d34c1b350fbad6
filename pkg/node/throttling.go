package node

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/model/loading"
)

// holdBack makes quotas of the limits of pods whose bursts are known: see [loading.Share.Under].
func holdBack(vectors []loading.Vector, cpu int, shares []loading.Share) {
	type held struct {
		demand loading.Demand
		limit  float64
	}
	known := map[held]loading.Share{} // replicas are alike
	for j, v := range vectors {
		if cpu >= len(v) || v[cpu].Burst == 0 || shares[j].Limit == 0 {
			continue
		}
		of := held{v[cpu], shares[j].Limit}
		under, is := known[of]
		if !is {
			under = loading.Share{}.Under(of.limit, of.demand)
			known[of] = under
		}
		shares[j].Limit, shares[j].Quota = under.Limit, under.Quota
	}
}

// Throttles reports whether a limit that makes what a pod takes alone so many times longer is worth a word.
func Throttles(times float64) bool {
	const negligible = 0.005
	return times >= 1+negligible
}

// MaxThrottling returns how many times longer at most a limit, nil for none, makes what a pod takes alone, given how many times
// longer it does if it holds on average. That depends on for how long the pod computes at a time: no longer than a job computes in
// all, if its neutral time is known. It is nil where the profile says for how long, and where that makes little difference.
func MaxThrottling(cpu loading.Demand, limit *resource.Quantity, neutralSeconds *float64, onAverage float64) *float64 {
	if limit == nil || limit.IsZero() || cpu.Burst > 0 {
		return nil
	}
	longest := 0.0
	if neutralSeconds != nil {
		longest = cpu.Loading * *neutralSeconds
	}
	const little = 1.05
	if most := cpu.LongestStretch(limit.AsApproximateFloat64(), longest); most > little*onAverage {
		return &most
	}
	return nil
}
