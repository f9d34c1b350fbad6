package remediations

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Complete reports whether nothing more is done about a change.
func Complete(r *v1alpha1.Remediation) bool {
	return meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.ConditionComplete)
}

// Started reports whether it was decided that a change is made.
func Started(r *v1alpha1.Remediation) bool { return r.Status.StartTime != nil }

// Running reports whether a change was started and is not complete.
func Running(r *v1alpha1.Remediation) bool { return Started(r) && !Complete(r) }

// Step returns the step that a running change is in, or the outcome of a complete one: the
// reason of its condition Complete, "" for a new one.
func Step(r *v1alpha1.Remediation) string {
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionComplete); c != nil {
		return c.Reason
	}
	return ""
}

// completed returns when a change was complete, nil if it is not.
func completed(r *v1alpha1.Remediation) *metav1.Time {
	if !Complete(r) {
		return nil
	}
	return r.Status.CompletionTime
}

// Describe says in words what a change is.
func Describe(c *v1alpha1.RemediationChange) string {
	if c.Action == v1alpha1.ActionMove {
		if c.ToNode == "" {
			return "move to another node"
		}
		return "move to " + c.ToNode
	}
	var parts []string
	if c.Request != nil {
		parts = append(parts, "request "+amounts(c.Request))
	}
	if c.Limit != nil {
		parts = append(parts, "limit "+amounts(c.Limit))
	}
	return fmt.Sprintf("%s of %s", strings.Join(parts, ", "), c.Container)
}

func amounts(c *v1alpha1.CPUChange) string { return fmt.Sprintf("%s → %s", c.From, c.To) }

// Nodes returns the nodes that a change involves: that of the pod, and those that it is moved to, as predicted and in fact.
func Nodes(r *v1alpha1.Remediation) []string {
	all := []string{r.Spec.Pod.Node}
	if r.Spec.Change.ToNode != "" {
		all = append(all, r.Spec.Change.ToNode)
	}
	if r.Status.Replacement != nil {
		all = append(all, r.Status.Replacement.Node)
	}
	return all
}

// sameWorkload reports whether two changes are of pods of one workload. A pod that nothing
// owns is its own.
func sameWorkload(a, b *v1alpha1.Remediation) bool {
	switch {
	case a.Namespace != b.Namespace:
		return false
	case a.Spec.Workload == nil || b.Spec.Workload == nil:
		return a.Spec.Workload == b.Spec.Workload && a.Spec.Pod.Name == b.Spec.Pod.Name
	default:
		return *a.Spec.Workload == *b.Spec.Workload
	}
}
