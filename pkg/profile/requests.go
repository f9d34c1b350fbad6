package profile

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/loading"
)

// rounding is the error of a quotient of two quantities: 9m / 3m is a hair more than 3, which must not make a fourth thread.
const rounding = 1e-12

// FromRequests returns the assumed vector of a pod that follows no profile: for each rule, the number of threads that follows
// from its request, together busy for the utilization of the request, and no busier than the CPU limit of the pod allows.
// Where the loadings of the rules add up to more than 1 they are scaled down to 1: a thread is at one place at a time. The
// resources must include those of the rules.
func FromRequests(pod *corev1.Pod, rules []config.RequestRule, resources *Resources) loading.Vector {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	v := make(loading.Vector, len(resources.names))
	total := 0.0
	for _, rule := range rules {
		quantity := requests[rule.Request]
		amount := max(quantity.AsApproximateFloat64(), rule.Minimum) / rule.PerThread
		if amount == 0 {
			continue
		}
		threads := min(max(1, math.Ceil(amount*(1-rounding))), MaxThreads)
		fraction := min(1, rule.Utilization*amount/threads)
		total += fraction
		v[resources.index[rule.Resource]] = loading.Demand{Loading: fraction, Pressure: fraction, Threads: int(threads)}
	}
	if total > 1 {
		for i := range v {
			v[i].Loading /= total
			v[i].Pressure /= total
		}
	}
	return resources.Within(v, cgroup.Flat(pod).Limit)
}

// Within returns the assumed vector of a pod whose threads may keep a limited number of processors busy, 0 for no limit: the
// assumption stays within the limit, so that the limit never seems to throttle the pod.
func (r *Resources) Within(assumed loading.Vector, limit float64) loading.Vector {
	d := assumed[r.Processor()]
	most := limit / float64(max(1, d.Threads))
	if limit == 0 || d.Loading <= most {
		return assumed
	}
	within := slices.Clone(assumed)
	within[r.Processor()].Loading, within[r.Processor()].Pressure = most, min(d.Pressure, most)
	return within
}
