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

// ObservedChanged passes the updates of a WorkloadProfile that change its numbers by what is observed of its pods, and nothing else. A manager that
// collects from gauges writes some of them at any time.
func ObservedChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			old, isOld := e.ObjectOld.(*v1alpha1.WorkloadProfile)
			next, isNext := e.ObjectNew.(*v1alpha1.WorkloadProfile)
			return isOld && isNext && profile.SameButObserved(old, next) && !profile.SameWorkload(old, next)
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
