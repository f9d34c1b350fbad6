package proposals

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/pkg/node"
)

// spared is where pods may run, without the nodes on which a change is running: what becomes of these is not known yet.
type spared struct {
	node.Feasibility

	busy sets.Set[string]
}

// Of returns the verdict on each node.
func (s *spared) Of(pod *corev1.Pod) func(name string) node.Fit {
	fit := s.Feasibility.Of(pod)
	return func(name string) node.Fit {
		if s.busy.Has(name) {
			return node.Fit{Refused: "a change is running there"}
		}
		return fit(name)
	}
}

// With returns the feasibility once the pod runs on a node.
func (s *spared) With(pod *corev1.Pod, on string) node.Feasibility {
	return &spared{s.Feasibility.With(pod, on), s.busy}
}
