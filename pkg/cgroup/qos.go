package cgroup

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// QoS returns the QoS class of a pod: that in its status, else what follows from its
// requests and limits of CPU and memory.
func QoS(pod *corev1.Pod) corev1.PodQOSClass {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass
	}
	pod = inEffect(pod)
	var sets []corev1.ResourceRequirements
	if r := pod.Spec.Resources; r != nil { // of the pod as a whole: those of containers do not matter then
		sets = append(sets, *r)
	} else {
		for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				sets = append(sets, list[i].Resources)
			}
		}
	}
	none, guaranteed := true, true
	for _, set := range sets {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := set.Requests[name], set.Limits[name]
			if request.Sign() > 0 || limit.Sign() > 0 {
				none = false
			}
			if limit.Sign() <= 0 || request.Cmp(limit) != 0 {
				guaranteed = false
			}
		}
	}
	switch {
	case none:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}

// InEffect returns a pod with the requests and limits that hold: those that its status tells, which are not those of
// its specification while a resize waits, and requests of as much as the limit where there is only that, as the API
// server has it. The pod itself stays as it is. Requests and limits of the returned one may be changed; everything else it
// shares with the pod.
func InEffect(pod *corev1.Pod) *corev1.Pod {
	pod = withOwnResources(pod)
	actual := map[string]*corev1.ResourceRequirements{}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			actual[list[i].Name] = list[i].Resources
		}
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if r := actual[list[i].Name]; r != nil {
				list[i].Resources.Requests, list[i].Resources.Limits = r.Requests.DeepCopy(), r.Limits.DeepCopy()
			}
			setRequests(&list[i].Resources)
		}
	}
	if r := pod.Spec.Resources; r != nil {
		if actual := pod.Status.Resources; actual != nil {
			r.Requests, r.Limits = actual.Requests.DeepCopy(), actual.Limits.DeepCopy()
		}
		setRequests(r)
	}
	return pod
}

// inEffect is as InEffect for callers that change nothing: the pod itself where its specification says what holds, as of most pods.
func inEffect(pod *corev1.Pod) *corev1.Pod {
	if r := pod.Spec.Resources; r != nil && !holds(r, pod.Status.Resources) {
		return InEffect(pod)
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if !holds(&list[i].Resources, actualOf(pod, list[i].Name)) {
				return InEffect(pod)
			}
		}
	}
	return pod
}

// actualOf returns what a container has by the pod's status, nil where that does not say.
func actualOf(pod *corev1.Pod, container string) *corev1.ResourceRequirements {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == container {
				return list[i].Resources
			}
		}
	}
	return nil
}

// holds reports whether requests and limits are the actual ones, where these are known, and each limit has its request.
func holds(r, actual *corev1.ResourceRequirements) bool {
	for name := range r.Limits {
		if _, requested := r.Requests[name]; !requested {
			return false
		}
	}
	return actual == nil || equalAmounts(r.Requests, actual.Requests) && equalAmounts(r.Limits, actual.Limits)
}

func equalAmounts(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

// withOwnResources returns a copy of a pod that shares all with it but requests and limits: most of a pod is large, and no business of this
// package.
func withOwnResources(pod *corev1.Pod) *corev1.Pod {
	copied := *pod
	for _, list := range []*[]corev1.Container{&copied.Spec.InitContainers, &copied.Spec.Containers} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Resources = *(*list)[i].Resources.DeepCopy()
		}
	}
	copied.Spec.Resources = copied.Spec.Resources.DeepCopy()
	return &copied
}

func setRequests(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, given := r.Requests[name]; given {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = limit
	}
}

// WithLimit returns a pod in which a container may use that much CPU, and the pod's class is what follows.
func WithLimit(pod *corev1.Pod, container string, cpu resource.Quantity) *corev1.Pod {
	pod = InEffect(pod)
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
	for _, c := range running(pod) {
		if c.Name == container {
			setCPU(&c.Resources.Limits, &cpu)
		}
	}
	return pod
}

// WithRequest returns a pod in which a container requests some CPU, and the pod's
// class is what follows. A limit that is equal to the request before stays equal;
// no limit is below it: a limit that would be is raised.
func WithRequest(pod *corev1.Pod, container string, cpu resource.Quantity) *corev1.Pod {
	pod = InEffect(pod)
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
	for _, c := range running(pod) {
		if c.Name != container {
			continue
		}
		if limit, limited := c.Resources.Limits[corev1.ResourceCPU]; limited {
			if before := c.Resources.Requests[corev1.ResourceCPU]; before.Cmp(limit) == 0 || limit.Cmp(cpu) < 0 {
				c.Resources.Limits[corev1.ResourceCPU] = cpu
			}
		}
		if c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		c.Resources.Requests[corev1.ResourceCPU] = cpu
	}
	return pod
}

// Largest returns the container of a pod that requests most CPU of those that run side by side, the first of such that request as much,
// how much that is, and its limit, nil for none; no name where there is no container, or where the pod requests CPU as a whole.
func Largest(pod *corev1.Pod) (container string, request, limit *resource.Quantity) {
	pod = inEffect(pod)
	if pod.Spec.Resources != nil {
		return "", nil, nil
	}
	for _, c := range running(pod) {
		if own := c.Resources.Requests.Cpu(); request == nil || own.Cmp(*request) > 0 {
			container, request, limit = c.Name, own, nil
			if most := c.Resources.Limits.Cpu(); !most.IsZero() {
				limit = most
			}
		}
	}
	return container, request, limit
}

// ContainerOf returns a container of a pod as it is in effect, by its name, or the only one by no name; nil where there is none.
func ContainerOf(pod *corev1.Pod, name string) *corev1.Container {
	pod = InEffect(pod)
	if pod.Spec.Resources != nil {
		return nil
	}
	all := running(pod)
	if name == "" && len(all) == 1 {
		return all[0]
	}
	for _, c := range all {
		if c.Name == name {
			return c
		}
	}
	return nil
}
