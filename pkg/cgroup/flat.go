package cgroup

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"loadline.dev/loadline/pkg/model/loading"
)

// bestEffortWeight is the weight of a pod of class BestEffort among all pods. The class as a whole has the smallest
// weight that there is, 1, which its pods on a node share; they are taken to be four.
const bestEffortWeight = 0.25

// Flat returns the share of a pod among all pods of any node with cgroup v2, whichever they are: its weight as if there
// were no classes, and its limit in cores. The tree of a node (see [NewPool]) says more exactly what a pod gets there,
// and differs little: the weight of a class is about the sum of those of its pods. Amounts below 0 count as 0.
func Flat(pod *corev1.Pod) loading.Share {
	request, limit, simple := milliCPU(pod)
	share := loading.Share{Weight: bestEffortWeight, Limit: float64(limit) / 1000}
	if request > 0 || simple && !bestEffort(pod) || !simple && QoS(pod) != corev1.PodQOSBestEffort {
		share.Weight = float64(Linear.Weight(Shares(request)))
	}
	return share
}

// MilliCPU returns the CPU that a pod requests, in thousandths of a core, as [Flat] weighs it.
func MilliCPU(pod *corev1.Pod) int64 {
	request, _, _ := milliCPU(pod)
	return request
}

// milliCPU returns the request and the limit of a pod in thousandths, and whether it is as in simpleCPU.
func milliCPU(pod *corev1.Pod) (request, limit int64, simple bool) {
	if request, limit, simple = simpleCPU(pod); simple {
		return request, limit, true
	}
	actual := inEffect(pod)
	requests := resourcehelper.PodRequests(actual, resourcehelper.PodResourcesOptions{})
	return milli(requests.Cpu()), limitOf(actual), false
}

// simpleCPU returns the request and the limit of a pod that has only containers, of which none is being resized, in
// thousandths: of most pods, without what copying them takes.
func simpleCPU(pod *corev1.Pod) (request, limit int64, simple bool) {
	if pod.Spec.Resources != nil || pod.Spec.Overhead != nil || len(pod.Spec.InitContainers) > 0 {
		return 0, 0, false
	}
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Resources != nil && (pod.Status.QOSClass == "" || resized(pod, s)) {
			return 0, 0, false
		}
	}
	limited := true
	for i := range pod.Spec.Containers {
		r := &pod.Spec.Containers[i].Resources
		most := r.Limits[corev1.ResourceCPU]
		limited = limited && most.Sign() > 0
		if least, requested := r.Requests[corev1.ResourceCPU]; requested {
			request += max(0, milli(&least))
		} else if most.Sign() > 0 { // as the API server has it
			request += milli(&most)
		}
		if most.Sign() > 0 {
			limit += milli(&most)
		}
	}
	if !limited || len(pod.Spec.Containers) == 0 {
		return request, 0, true
	}
	return request, Quota(limit), true
}

// resized reports whether a container, by its status, has other CPU than its specification says: kubelets report what it has of each that runs.
func resized(pod *corev1.Pod, s *corev1.ContainerStatus) bool {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == s.Name {
			return !equalCPU(c.Resources.Requests, s.Resources.Requests) || !equalCPU(c.Resources.Limits, s.Resources.Limits)
		}
	}
	return false
}

func equalCPU(a, b corev1.ResourceList) bool {
	x, is := a[corev1.ResourceCPU]
	y, also := b[corev1.ResourceCPU]
	return is == also && x.Cmp(y) == 0
}

// bestEffort reports whether a pod as in simpleCPU is of class BestEffort.
func bestEffort(pod *corev1.Pod) bool {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass == corev1.PodQOSBestEffort
	}
	for i := range pod.Spec.Containers {
		r := &pod.Spec.Containers[i].Resources
		for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
			cpu, memory := list[corev1.ResourceCPU], list[corev1.ResourceMemory]
			if cpu.Sign() > 0 || memory.Sign() > 0 {
				return false
			}
		}
	}
	return true
}
