package statuses

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// ProfileChanged passes the updates of a WorkloadProfile or a NodeProfile that change its numbers:
// because of its spec, or of its measurements.
func ProfileChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		switch old := e.ObjectOld.(type) {
		case *v1alpha1.WorkloadProfile:
			next, ok := e.ObjectNew.(*v1alpha1.WorkloadProfile)
			return !ok || !profile.SameWorkload(old, next)
		case *v1alpha1.NodeProfile:
			next, ok := e.ObjectNew.(*v1alpha1.NodeProfile)
			return !ok || !profile.SameNodeClass(old, next)
		}
		return true
	}}
}
