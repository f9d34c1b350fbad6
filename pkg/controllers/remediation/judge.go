package remediation

import (
	"context"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
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
	// Unknown says why that is not known yet, "" if it is, and Final that it never will be.
	Unknown string
	Final   bool
	// Win is by how much the dilations of all pods together are less than they would be
	// without the change, at the load of afterwards, and Low and High are the ends of the
	// interval that it lies in with a probability of 95 %.
	Win, Low, High float64
	// CostsOthers says which pods pay more for the change than was predicted, "" if none does.
	CostsOthers string
}
