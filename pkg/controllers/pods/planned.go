package pods

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/controllers/interned"
	"loadline.dev/loadline/pkg/scheduling"
)

// planned is what plans look at of a pod besides, and what seldom is that of another one.
type planned struct {
	created          metav1.Time
	started, deleted *metav1.Time
	annotations      map[string]string
	affinity         *corev1.Affinity // those of a DaemonSet have their node in it
	// containers and initContainers are the IDs of those that have a status, in its order.
	containers, initContainers []string
}

// withPlanned has a slim pod keep all that plans look at: what [scheduling.Trim] leaves of the pod, which is changed, but for when its
// conditions changed, and when the containers started of one that is started again whenever it ends.
func (p *slimPod) withPlanned(pod *corev1.Pod, values *interned.Values) *slimPod {
	scheduling.Trim(pod)
	status := &pod.Status
	p.planned = &planned{
		created: pod.CreationTimestamp, started: status.StartTime, deleted: pod.DeletionTimestamp,
		annotations: interned.Share(values, pod.Annotations), affinity: interned.Share(values, pod.Spec.Affinity),
		containers: takeIDs(status.ContainerStatuses), initContainers: takeIDs(status.InitContainerStatuses),
	}
	common := &corev1.Pod{Spec: pod.Spec, Status: *status}
	common.Spec.NodeName, common.Spec.Hostname, common.Spec.Affinity = "", "", nil
	common.Status.StartTime, common.Status.HostIP, common.Status.HostIPs, common.Status.PodIP, common.Status.PodIPs = nil, "", nil, "", nil
	for i := range status.Conditions {
		status.Conditions[i].LastProbeTime, status.Conditions[i].LastTransitionTime = metav1.Time{}, metav1.Time{}
	}
	for _, list := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses} {
		for i := range list {
			list[i].LastTerminationState, list[i].RestartCount = corev1.ContainerState{}, 0
			if running := list[i].State.Running; running != nil && pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
				list[i].State.Running = &corev1.ContainerStateRunning{}
			}
		}
	}
	p.common = interned.Share(values, common)
	return p
}

// takeIDs returns the IDs of containers, which their statuses have no longer.
func takeIDs(of []corev1.ContainerStatus) []string {
	if len(of) == 0 {
		return nil
	}
	ids := make([]string, len(of))
	for i := range of {
		ids[i], of[i].ContainerID = of[i].ContainerID, ""
	}
	return ids
}

// whole returns the pod, which must not be changed, as far as plans look at it.
func (p *slimPod) whole() corev1.Pod {
	pod := p.pod()
	pod.CreationTimestamp, pod.DeletionTimestamp, pod.Annotations = p.planned.created, p.planned.deleted, p.planned.annotations
	pod.Spec.Affinity, pod.Status.StartTime = p.planned.affinity, p.planned.started
	pod.Status.ContainerStatuses = withIDs(pod.Status.ContainerStatuses, p.planned.containers)
	pod.Status.InitContainerStatuses = withIDs(pod.Status.InitContainerStatuses, p.planned.initContainers)
	return pod
}

// withIDs returns the statuses of containers that have these IDs.
func withIDs(of []corev1.ContainerStatus, ids []string) []corev1.ContainerStatus {
	of = slices.Clone(of)
	for i := range of {
		of[i].ContainerID = ids[i]
	}
	return of
}
