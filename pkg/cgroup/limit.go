package cgroup

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// minLimit is the least that the kubelet makes of a limit, in thousandths of a CPU.
const minLimit = 10

// Limit returns how much CPU a pod may use, in thousandths of a core, 0 without a limit: that of the pod as a whole, or those of its
// containers together, if all have one.
func Limit(pod *corev1.Pod) int64 {
	_, limit, _ := milliCPU(pod)
	return limit
}

// Limited is a container that may use that much CPU, in thousandths, 0 without a limit.
type Limited struct {
	Name     string
	MilliCPU int64
}

// Limits returns the limits in effect in a pod, each of which is a quota of its own: that of the pod as a whole, in thousandths and 0
// without one, and those of its containers that run side by side. Where only all containers have a limit, their sum is no further one:
// they do not reach it before their own.
func Limits(pod *corev1.Pod) (whole int64, containers []Limited) {
	pod = inEffect(pod)
	if r := pod.Spec.Resources; r != nil {
		whole = quota(r.Limits.Cpu())
	}
	for _, c := range running(pod) {
		containers = append(containers, Limited{c.Name, quota(c.Resources.Limits.Cpu())})
	}
	return whole, containers
}

// Quota returns what the kubelet makes of a limit above 0, in thousandths of a CPU: at least 10, 1 ms per 100 ms.
func Quota(milliCPU int64) int64 { return max(milliCPU, minLimit) }

// limitOf is Limit of a pod whose requests and limits are those in effect.
func limitOf(pod *corev1.Pod) int64 {
	if r := pod.Spec.Resources; (r == nil || r.Limits.Cpu().IsZero()) && !allLimited(pod, corev1.ResourceCPU) {
		return 0
	}
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})
	return quota(limits.Cpu())
}

// allLimited reports whether each container of a pod, also those that run before the others, has a limit of a resource.
func allLimited(pod *corev1.Pod, name corev1.ResourceName) bool {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if limit, some := list[i].Resources.Limits[name]; !some || limit.IsZero() {
				return false
			}
		}
	}
	return true
}

// quota returns a limit in thousandths, 0 for none.
func quota(cpu *resource.Quantity) int64 {
	if cpu.IsZero() {
		return 0
	}
	return Quota(milli(cpu))
}
