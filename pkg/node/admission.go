package node

import corev1 "k8s.io/api/core/v1"

// Admission says which resizes of pods the API server would refuse. Package admission asks the API server's own code; what this package and
// those that use it decide does not depend on it.
type Admission interface {
	// Refuses says why the API server would refuse that a pod becomes another object, which differs in CPU requests and limits only: a
	// sentence without its end, "" where it would not.
	Refuses(from, to *corev1.Pod) string
	// With returns the admission once that is so. The receiver is not changed.
	With(from, to *corev1.Pod) Admission
}
