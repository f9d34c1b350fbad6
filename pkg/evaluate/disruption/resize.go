package disruption

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// ContainerCPU is how much CPU a container is to have.
type ContainerCPU struct {
	// Container is its name.
	Container string
	// Request and Limit are what it requests and may use; nil leaves it as it is.
	Request, Limit *resource.Quantity
}

// Resized returns a pod with the CPU requests and limits that some of its containers are to have, once they have them.
func Resized(pod *corev1.Pod, cpus []ContainerCPU) *corev1.Pod {
	to := cgroup.InEffect(pod)
	to.Status = corev1.PodStatus{Phase: pod.Status.Phase}
	for _, c := range resizable(to) {
		for _, cpu := range cpus {
			if cpu.Container == c.Name {
				set(&c.Resources.Requests, cpu.Request)
				set(&c.Resources.Limits, cpu.Limit)
			}
		}
	}
	return to
}

func set(list *corev1.ResourceList, cpu *resource.Quantity) {
	if cpu == nil {
		return
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[corev1.ResourceCPU] = *cpu
}

// change is that of the resources of a container.
type change struct {
	name     string
	from, to corev1.ResourceRequirements
	restarts bool
}

// Resize says whether containers of a pod may have that much CPU from now on, in place, and what follows from that.
func (r *Rules) Resize(pod *corev1.Pod, cpus []ContainerCPU) Verdict {
	to := Resized(pod, cpus)
	changes, problem := changesOf(pod, to, cpus)
	for _, why := range []string{
		gone(pod), r.young(pod), fixed(pod), underWay(pod), r.unserved(pod), problem, r.leftTo(pod, changes), classChange(pod, to), r.pinned(pod),
	} {
		if why != "" {
			return Verdict{Refused: why}
		}
	}
	v := Verdict{Notes: r.scaling(pod, changes)}
	for _, c := range changes {
		if c.restarts {
			v.Restarts = append(v.Restarts, c.name)
		}
	}
	if len(v.Restarts) > 0 {
		v.LostSeconds = r.work(pod)
		note := fmt.Sprintf("container %s restarts, by its resizePolicy for CPU", text.Names(v.Restarts))
		if v.LostSeconds > 0 {
			note += ", and loses the work of " + lasting(v.LostSeconds)
		}
		v.Notes = append([]string{note}, v.Notes...)
	}
	return v
}

// fixed says why no API server resizes a pod.
func fixed(pod *corev1.Pod) string {
	switch {
	case node.Static(pod):
		return fmt.Sprintf("it is a static pod: the file on %s has its resources", pod.Spec.NodeName)
	case pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows:
		return "it is a pod of Windows, which is not resized in place"
	case pod.Spec.Resources != nil && len(pod.Spec.Resources.Requests)+len(pod.Spec.Resources.Limits) > 0:
		return "it has resources of the pod as a whole, which not every cluster resizes in place"
	default:
		return ""
	}
}

// underWay says that the pod is being resized already.
func underWay(pod *corev1.Pod) string {
	for i := range pod.Status.Conditions {
		switch c := &pod.Status.Conditions[i]; {
		case c.Status != corev1.ConditionTrue:
		case c.Type == corev1.PodResizeInProgress:
			return "a resize of it is in progress"
		case c.Type == corev1.PodResizePending:
			return fmt.Sprintf("a resize of it is pending: %s", cmp.Or(c.Message, c.Reason, "its kubelet has not said why"))
		}
	}
	return ""
}

// unserved says that the cluster does not resize pods in place: the API server, or the kubelet, which reports the resources of
// containers since it does.
func (r *Rules) unserved(pod *corev1.Pod) string {
	if r.in.NoResize {
		return "the API server does not offer pods/resize: Kubernetes 1.35 and later do, 1.33 and 1.34 unless it is turned off"
	}
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.State.Running != nil {
			if s.Resources == nil {
				return fmt.Sprintf("the kubelet of %s does not resize pods in place", pod.Spec.NodeName)
			}
			break
		}
	}
	return ""
}

// resizable returns the containers that run beside each other: those of the pod, and its sidecars.
func resizable(pod *corev1.Pod) (all []*corev1.Container) {
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	for i := range pod.Spec.Containers {
		all = append(all, &pod.Spec.Containers[i])
	}
	return all
}

// changesOf returns which containers of a pod have other resources once it is resized, and what is wrong with that.
func changesOf(pod, to *corev1.Pod, cpus []ContainerCPU) (changes []change, problem string) {
	pod = cgroup.InEffect(pod)
	before, after := resizable(pod), resizable(to)
	for _, cpu := range cpus {
		if !slices.ContainsFunc(before, func(c *corev1.Container) bool { return c.Name == cpu.Container }) {
			return nil, fmt.Sprintf("it has no container %s that can be resized", cpu.Container)
		}
	}
	for i, c := range before {
		if equality.Semantic.DeepEqual(c.Resources, after[i].Resources) {
			continue
		}
		changes = append(changes, change{c.Name, c.Resources, after[i].Resources, slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
			return p.ResourceName == corev1.ResourceCPU && p.RestartPolicy == corev1.RestartContainer
		})})
		if why := impossible(&after[i].Resources); why != "" {
			return nil, fmt.Sprintf("container %s: %s", c.Name, why)
		}
	}
	if len(changes) == 0 {
		return nil, "its CPU requests and limits are already so"
	}
	return changes, ""
}

// impossible says what is wrong with the CPU that a container is to have.
func impossible(r *corev1.ResourceRequirements) string {
	request, limit := r.Requests[corev1.ResourceCPU], r.Limits[corev1.ResourceCPU]
	_, limited := r.Limits[corev1.ResourceCPU]
	switch {
	case request.Sign() < 0:
		return fmt.Sprintf("a CPU request of %s is below 0", request.String())
	case limited && request.Cmp(limit) > 0:
		return fmt.Sprintf("a CPU request of %s is above the limit of %s", request.String(), limit.String())
	default:
		return ""
	}
}

// classChange says that the QoS class of a pod would change.
func classChange(pod, to *corev1.Pod) string {
	before, after := cgroup.QoS(pod), cgroup.QoS(to)
	switch before {
	case after:
		return ""
	case corev1.PodQOSGuaranteed:
		return fmt.Sprintf("its QoS class would change from %s to %s, which the API server refuses: change requests and limits together", before, after)
	default:
		return fmt.Sprintf("its QoS class would change from %s to %s, which the API server refuses", before, after)
	}
}

// pinned says that the kubelet keeps processors for pods of the class, and resizes none of them.
func (r *Rules) pinned(pod *corev1.Pod) string {
	if r.in.StaticCPUs.Has(pod.Spec.NodeName) && cgroup.QoS(pod) == corev1.PodQOSGuaranteed {
		return fmt.Sprintf("the CPU manager policy of %s is static, with which the kubelet resizes the CPU of no %s pod", pod.Spec.NodeName, corev1.PodQOSGuaranteed)
	}
	return ""
}

func milli(cpu int64) string { return resource.NewMilliQuantity(cpu, resource.DecimalSI).String() }
