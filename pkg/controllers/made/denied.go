package made

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Denied returns why nothing can be made in a namespace, with what to do about it, when an error says that the manager lacks a
// right there; "" for other errors, such as those of admission. The value of the chart has the list of namespaces in which a
// ClusterRole is bound to the manager.
func Denied(err error, namespace, value, role string) string {
	// That is how the API server says it, unlike "exceeded quota" and what admission policies say:
	// k8s.io/apiserver/pkg/endpoints/handlers/responsewriters.forbiddenMessage.
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), " cannot ") {
		return ""
	}
	return fmt.Sprintf("loadline-manager may not run Jobs in namespace %s: add it to %s.namespaces of the chart, or bind the ClusterRole %s there",
		namespace, value, role)
}
