package cgroup

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// CPU returns how much CPU a pod requests and may use, those in effect, and its limit is nil if it has none.
func CPU(pod *corev1.Pod) (request, limit *resource.Quantity) {
	least, most, _ := milliCPU(pod)
	request = resource.NewMilliQuantity(least, resource.DecimalSI)
	if most > 0 {
		limit = resource.NewMilliQuantity(most, resource.DecimalSI)
	}
	return request, limit
}

// WithCPU returns a pod that requests that much CPU in all, and may use that much; nil leaves one as it is, and a limit
// of 0 is none. A request that was equal to the limit stays so when only the request changes, and follows the limit down;
// a pod that requested nothing requests its new limit, as the API server has it. The pod's class is what follows.
//
// The error says that the request would be above the limit.
func WithCPU(pod *corev1.Pod, request, limit *resource.Quantity) (*corev1.Pod, error) {
	oldRequest, oldLimit := CPU(pod)
	pod = InEffect(pod)
	if request == nil && limit == nil {
		return pod, nil
	}
	equal := oldLimit != nil && oldRequest.Cmp(*oldLimit) == 0
	switch {
	case limit == nil && equal:
		limit = request
	case limit == nil:
		limit = oldLimit
	}
	if limit != nil && limit.IsZero() {
		limit = nil
	}
	if request == nil {
		request = oldRequest
		if limit != nil && (request.IsZero() || equal && request.Cmp(*limit) > 0) {
			request = limit
		}
	}
	if limit != nil && request.Cmp(*limit) > 0 {
		return nil, fmt.Errorf("a request of %s is above the limit of %s: change both", request, limit)
	}
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
	resources := &pod.Spec.Containers[0].Resources
	if len(running(pod)) > 1 || pod.Spec.Resources != nil {
		resources = asWhole(pod)
	}
	setCPU(&resources.Requests, request)
	setCPU(&resources.Limits, limit)
	return pod, nil
}

// asWhole returns the resources of a pod as a whole, which it has from then on in place of those of its containers.
func asWhole(pod *corev1.Pod) *corev1.ResourceRequirements {
	if pod.Spec.Resources != nil {
		return pod.Spec.Resources
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{ExcludeOverhead: true})
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{ExcludeOverhead: true})
	whole := &corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	if memory, some := requests[corev1.ResourceMemory]; some { // it counts for the class
		whole.Requests[corev1.ResourceMemory] = memory
	}
	if memory, some := limits[corev1.ResourceMemory]; some && allLimited(pod, corev1.ResourceMemory) {
		whole.Limits[corev1.ResourceMemory] = memory
	}
	for _, c := range running(pod) {
		delete(c.Resources.Requests, corev1.ResourceCPU)
		delete(c.Resources.Limits, corev1.ResourceCPU)
	}
	pod.Spec.Resources = whole
	return whole
}

func setCPU(list *corev1.ResourceList, cpu *resource.Quantity) {
	if cpu == nil {
		delete(*list, corev1.ResourceCPU)
		return
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[corev1.ResourceCPU] = *cpu
}
