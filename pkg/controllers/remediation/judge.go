package remediation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// Judge says what changes have won.
type Judge interface {
	// Judge judges a change that was made at status.appliedTime, by what was observed since.
	// It is asked again where that is not enough. An error is one that another attempt may
	// not meet.
	Judge(ctx context.Context, r *v1alpha1.Remediation) (Judgement, error)
}

// Judgement is what a change has won.
type Judgement struct {
	// Unknown says why that is not known yet, "" if it is.
	Unknown string
	// Win is by how much the dilations of all pods together are less than they would be
	// without the change, at the load of afterwards, and Low and High are the ends of the
	// interval that it lies in with a probability of 95 %.
	Win, Low, High float64
	// CostsOthers says which pods pay more for the change than was predicted, "" if none does.
	CostsOthers string
}

// Permission says which pods must be left as they are, whatever a policy says: those that a
// PodDisruptionBudget or an annotation protects, that an autoscaler resizes, or that are the
// only ones of their workload.
type Permission interface {
	// Refusal returns why a change of a pod must not be made now, "" if it may be.
	Refusal(ctx context.Context, policy *remediations.Policy, r *v1alpha1.Remediation, pod *corev1.Pod) (string, error)
}
