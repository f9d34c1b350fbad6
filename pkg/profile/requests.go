package profile

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/pkg/model/contention"
)

// rounding is by how much a quotient of two quantities may be off: 9m / 3m is
// a hair more than 3, which must not make a fourth thread.
const rounding = 1e-12

// FromRequests returns the vector of a pod that follows no profile: for each
// rule, as many threads as its request makes, together busy for the utilization
// of the request. Where the loadings of the rules add up to more than 1 they
// are scaled down to 1: a thread is at one place at a time. The resources must
// include those of the rules.
func FromRequests(pod *corev1.Pod, rules []config.RequestRule, resources *Resources) contention.Vector {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	v := make(contention.Vector, len(resources.names))
	total := 0.0
	for _, rule := range rules {
		quantity := requests[rule.Request]
		amount := max(quantity.AsApproximateFloat64(), rule.Minimum) / rule.PerThread
		if amount == 0 {
			continue
		}
		threads := min(max(1, math.Ceil(amount*(1-rounding))), MaxThreads)
		loading := min(1, rule.Utilization*amount/threads)
		total += loading
		v[resources.index[rule.Resource]] = contention.Demand{Loading: loading, Pressure: loading, Threads: int(threads)}
	}
	if total > 1 {
		for i := range v {
			v[i].Loading /= total
			v[i].Pressure /= total
		}
	}
	return v
}
