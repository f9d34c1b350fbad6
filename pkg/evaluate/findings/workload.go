package findings

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// movable reports whether a pod that goes comes back: what controls it makes another one. Where that may run, the scheduler says.
func movable(pod *corev1.Pod) bool { return metav1.GetControllerOf(pod) != nil }
