package node

import corev1 "k8s.io/api/core/v1"

// Feasibility says where the scheduler would let pods run. Package feasibility asks kube-scheduler's own filter plugins; what this
// package and those that use it decide does not depend on them.
type Feasibility interface {
	// Of returns the scheduler's verdict on each node, by its name, if the pod were created anew: it does not count where it is now,
	// nor do its requests there.
	Of(pod *corev1.Pod) func(node string) Fit
}

// Fit is the scheduler's verdict on a node for a pod. The zero value is that the pod fits.
type Fit struct {
	// Refused says why the node is refused, in the scheduler's words.
	Refused string
	// Unknown says what would have to be known to tell whether the pod fits, where nothing that is known refuses it.
	Unknown string
}
