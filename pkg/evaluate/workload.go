package evaluate

import (
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrNoVector says that a profile leaves its vector to a measurement or to observations
// that are not there.
var ErrNoVector = errors.New("has no loading vector yet: list it in spec.resources, or wait until status.measurements holds what was measured, or status.observations what is recommended")

// QualifiedName returns namespace/name of an object, or its name alone where it has
// no namespace.
func QualifiedName(o metav1.Object) string {
	return strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
}
