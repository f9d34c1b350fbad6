package invariant

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/chaos/link"
)

// Event is a change of an object.
type Event struct {
	// At is when it was seen.
	At time.Time
	// Object is as it is after the change, or as it was last where it is deleted.
	Object  client.Object
	Deleted bool
}

// Rule is an invariant that holds all the time.
type Rule interface {
	// Name is a short sentence that says what is so.
	Name() string
	// Event returns what is wrong with a change.
	Event(Event) []string
	// Request returns what is wrong with a request that the API server answered.
	Request(link.Passed) []string
}

// Late is a rule that judges some of what it has seen at the end.
type Late interface {
	// Rest returns what is wrong with that.
	Rest() []string
}

// Rules returns all rules. disturbed reports whether a client of the API server may have missed, between two moments, what happened
// there, and blind whether a scheduler, "" for any, did not see all the time which bounds there are.
func Rules(disturbed, blind func(client string, from, to time.Time) bool) []Rule {
	return []Rule{NewPlacedOnce(), NewBoundsKept(disturbed, blind), NewChangedOnce(), NewWithinPools(), NewNoPodDeleted()}
}

// events is embedded by rules that see no requests.
type events struct{}

// Request returns nothing.
func (events) Request(link.Passed) []string { return nil }

// requests is embedded by rules that see no events.
type requests struct{}

// Event returns nothing.
func (requests) Event(Event) []string { return nil }

// podOf returns the pod that an event is about, nil if it is about another object.
func podOf(e Event) *corev1.Pod {
	pod, is := e.Object.(*corev1.Pod)
	if !is {
		return nil
	}
	return pod
}

// terminated reports whether a pod has ended.
func terminated(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// path is where a request for a pod goes to.
type path struct{ namespace, pod, subresource string }

// podPath takes the path of a request apart, and reports whether it is for a pod.
func podPath(of string) (p path, is bool) {
	parts := strings.Split(strings.Trim(of, "/"), "/")
	if len(parts) < 6 || parts[0] != "api" || parts[2] != "namespaces" || parts[4] != "pods" {
		return path{}, false
	}
	p = path{namespace: parts[3], pod: parts[5]}
	if len(parts) > 6 {
		p.subresource = parts[6]
	}
	return p, true
}

// succeeded reports whether a request has changed something.
func succeeded(r *link.Passed) bool {
	return r.Status >= 200 && r.Status < 300 && !strings.Contains(r.Query, "dryRun=")
}

// Effect names what a request changed, such as "POST pods/eviction", "" where it changed nothing or is of leases, events or reviews.
func Effect(r *link.Passed) string {
	if !succeeded(r) {
		return ""
	}
	parts := strings.Split(strings.Trim(r.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	what := parts[0]
	if len(parts) > 2 {
		what += "/" + parts[2]
	}
	switch what {
	case "leases", "events", "tokenreviews", "subjectaccessreviews":
		return ""
	}
	return r.Method + " " + what
}
