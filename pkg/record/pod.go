package record

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Finished reports whether all containers of a pod have ended for good.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Slim returns a new pod with what a [Recorder] reads of the given one, a small
// part.
func Slim(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Labels: pod.Labels,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
		},
		Spec: corev1.PodSpec{
			NodeName: pod.Spec.NodeName, Resources: pod.Spec.Resources, Overhead: pod.Spec.Overhead,
			Containers: slimContainers(pod.Spec.Containers), InitContainers: slimContainers(pod.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase: pod.Status.Phase, StartTime: pod.Status.StartTime, ContainerStatuses: slimStatuses(pod.Status.ContainerStatuses),
		},
	}
}

func slimContainers(containers []corev1.Container) []corev1.Container {
	slim := make([]corev1.Container, len(containers))
	for i, c := range containers {
		slim[i] = corev1.Container{Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy}
	}
	return slim
}

func slimStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	slim := make([]corev1.ContainerStatus, len(statuses))
	for i, s := range statuses {
		slim[i] = corev1.ContainerStatus{Name: s.Name, State: s.State, LastTerminationState: s.LastTerminationState, RestartCount: s.RestartCount, Resources: s.Resources}
	}
	return slim
}

// Deleted returns what is to be recorded of a pod that is gone, by its last known
// state: [Slim], and a pod that had not finished failed.
func Deleted(pod *corev1.Pod) *corev1.Pod {
	pod = Slim(pod)
	if !Finished(pod) {
		pod.Status.Phase = corev1.PodFailed
	}
	return pod
}

// started returns when a pod began to run, the zero time if it never did.
func started(pod *corev1.Pod) time.Time {
	var first time.Time
	restarted := false
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		restarted = restarted || c.RestartCount > 0
		if c.State.Running != nil {
			first = earlier(first, c.State.Running.StartedAt)
		}
		for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if t != nil {
				first = earlier(first, t.StartedAt)
			}
		}
	}
	if restarted && !first.IsZero() && pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return first
}

// ended returns when a finished pod was done, the zero time if that is not known.
func ended(pod *corev1.Pod) time.Time {
	var last time.Time
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if c.State.Running != nil { // it was deleted while this ran
			return deletion(pod)
		}
		for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if t != nil && happened(t.FinishedAt) && t.FinishedAt.After(last) {
				last = t.FinishedAt.Time
			}
		}
	}
	if last.IsZero() {
		return deletion(pod)
	}
	return last
}

func deletion(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	return pod.DeletionTimestamp.Time
}

// earlier returns the earlier one of two times that happened.
func earlier(first time.Time, t metav1.Time) time.Time {
	if happened(t) && (first.IsZero() || t.Time.Before(first)) {
		return t.Time
	}
	return first
}

// happened reports whether a time is one: kubelets say that a container that could
// not be started did so in 1970.
func happened(t metav1.Time) bool { return t.Unix() > 0 }
