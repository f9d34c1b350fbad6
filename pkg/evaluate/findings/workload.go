package findings

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// movable reports whether a pod can be moved: what controls it would make another one, and not on the same node.
func movable(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind != "Node" && owner.Kind != "DaemonSet"
}
