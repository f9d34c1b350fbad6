package invariant

import (
	"fmt"
	"net/http"
	"strings"

	"loadline.dev/loadline/hack/chaos/link"
)

// NoPodDeleted says that Loadline deletes no pods: it evicts those that a Remediation moves, and deletes Jobs, whose pods Kubernetes
// collects. No pod of the load has a priority, so that none is preempted.
type NoPodDeleted struct{ requests }

// NewNoPodDeleted returns the rule.
func NewNoPodDeleted() *NoPodDeleted { return &NoPodDeleted{} }

// Name says what is so.
func (*NoPodDeleted) Name() string { return "no pod is lost: Loadline deletes none" }

// Request judges the deletion of pods.
func (*NoPodDeleted) Request(r link.Passed) []string {
	if r.Method != http.MethodDelete || !succeeded(&r) || !strings.HasPrefix(r.Path, "/api/v1/") || !strings.Contains(r.Path, "/pods") {
		return nil
	}
	return []string{fmt.Sprintf("%s deleted %s", r.Client, r.Path)}
}
