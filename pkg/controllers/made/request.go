package made

import (
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Requests returns the request for an object that a label or an annotation names, none where no
// object can have that name: a user who may create a pod can write any text there.
func Requests(namespace, name string) []reconcile.Request {
	if len(validation.NameIsDNSSubdomain(name, false)) > 0 {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}
