package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Feasibility says where the scheduler would let pods run. Package feasibility asks kube-scheduler's own filter plugins; what this
// package and those that use it decide does not depend on them.
type Feasibility interface {
	// Of returns the scheduler's verdict on each node, by its name, if the pod were created anew: it does not count where it is now,
	// nor do its requests there.
	Of(pod *corev1.Pod) func(node string) Fit
	// With returns the feasibility once the pod runs on a node, in place of the pod of its namespace and name wherever that is: a move
	// is With(pod, target), a resize With(changed pod, its node), and With(pod, "") that it is gone. The receiver is not changed.
	With(pod *corev1.Pod, node string) Feasibility
}

// Fit is the scheduler's verdict on a node for a pod. The zero value is that the pod fits.
type Fit struct {
	// Refused says why the node is refused, in the scheduler's words.
	Refused string
	// Unknown says what would have to be known to tell whether the pod fits, where nothing that is known refuses it.
	Unknown string
}

// Stays says why a pod runs on its node and on no other, "" where a scheduler decides.
func Stays(pod *corev1.Pod) string {
	owner := metav1.GetControllerOfNoCopy(pod)
	switch {
	case pod.Spec.NodeName == "":
		return ""
	case Static(pod):
		return fmt.Sprintf("it is a static pod, which the kubelet of %s runs: no scheduler places it", pod.Spec.NodeName)
	case owner != nil && owner.Kind == "DaemonSet":
		return fmt.Sprintf("DaemonSet %s has a pod for each of its nodes: this one is for %s", owner.Name, pod.Spec.NodeName)
	default:
		return ""
	}
}

// Static reports whether a pod stands in the API for one that a kubelet runs from a file of its node.
func Static(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	_, mirrors := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirrors || owner != nil && owner.Kind == "Node"
}
