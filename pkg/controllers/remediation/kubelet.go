package remediation

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// progress is how far the kubelet is with a resize.
type progress int

const (
	// resizing is before anything is known.
	resizing progress = iota
	// resized is when the container runs with what was asked for.
	resized
	// deferred is while the node has no room.
	deferred
	// infeasible is when it never will have.
	infeasible
	// erring is while the kubelet meets an error.
	erring
)

// kubeletProgress returns how far the kubelet is, and what it says.
func kubeletProgress(pod *corev1.Pod, container string, to amounts) (progress, string) {
	if c := podCondition(pod, corev1.PodResizePending); c != nil && c.Status == corev1.ConditionTrue && current(pod, c) {
		if c.Reason == corev1.PodReasonInfeasible {
			return infeasible, cmp.Or(c.Message, "the node cannot have that much")
		}
		return deferred, cmp.Or(c.Message, "the node has no room now")
	}
	if c := podCondition(pod, corev1.PodResizeInProgress); c != nil && c.Status == corev1.ConditionTrue {
		if c.Reason == corev1.PodReasonError && current(pod, c) {
			return erring, cmp.Or(c.Message, "the kubelet met an error")
		}
		return resizing, "the kubelet is at it"
	}
	s := statusOf(pod, container)
	switch {
	case s != nil && s.Resources != nil && to.match(s.Resources.Requests, s.Resources.Limits):
		return resized, ""
	case pod.Generation > 0 && pod.Status.ObservedGeneration >= pod.Generation:
		// The kubelet has seen the resize and has nothing left to do. What it reports can
		// differ from what was asked for, where the kernel rounds.
		return resized, ""
	default:
		return resizing, fmt.Sprintf("the kubelet of node %s has not followed", pod.Spec.NodeName)
	}
}

// current reports whether a condition of a pod is of its last resize, as far as that is known.
func current(pod *corev1.Pod, c *corev1.PodCondition) bool {
	return c.ObservedGeneration == 0 || c.ObservedGeneration >= pod.Generation
}
