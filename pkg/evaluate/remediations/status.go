package remediations

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
)

// judgedForPause is how many of the last changes say whether a policy wins, and enoughWon
// the fraction of what was predicted that they must have won together.
const (
	judgedForPause = 10
	enoughWon      = 0.5
)

// Input is what the status of a policy is made of.
type Input struct {
	Policy *v1alpha1.RemediationPolicy
	// Remediations are all of the cluster, or of the policy.
	Remediations []v1alpha1.Remediation
	// Conflict is the policy's among [Conflicts].
	Conflict Conflict
	// Stopped says why no policy changes anything, "" if that is not so.
	Stopped string
	Now     metav1.Time
}

// Status returns the status of a policy.
func Status(in *Input) v1alpha1.RemediationPolicyStatus {
	p := in.Policy
	status := *p.Status.DeepCopy()
	status.ObservedGeneration = new(p.Generation)
	count(&status, p.Name, in.Remediations)
	paused := Paused(p, in.Remediations)
	condition.Set(&status.Conditions, p.Generation, in.Now, paused, ready(in, &paused), conflicted(in.Conflict))
	return status
}

// count fills in the numbers of a status.
func count(status *v1alpha1.RemediationPolicyStatus, policy string, all []v1alpha1.Remediation) {
	var proposed, running, succeeded, rolledBack, failed int32
	var predicted, realized float64
	for i := range all {
		r := &all[i]
		if r.Spec.Policy != policy {
			continue
		}
		switch {
		case Running(r):
			running++
		case !Complete(r):
			proposed++
		}
		switch Step(r) {
		case v1alpha1.ReasonSucceeded, v1alpha1.ReasonUnproven:
			succeeded++
		case v1alpha1.ReasonRolledBack:
			rolledBack++
		case v1alpha1.ReasonFailed:
			failed++
		}
		if r.Status.Realized != nil {
			predicted += r.Spec.Prediction.Win.AsApproximateFloat64()
			realized += r.Status.Realized.Win.AsApproximateFloat64()
		}
	}
	status.Proposed, status.Running, status.Succeeded, status.RolledBack, status.Failed = &proposed, &running, &succeeded, &rolledBack, &failed
	status.PredictedWin, status.RealizedWin = Quantity(predicted), Quantity(realized)
	status.Win = fmt.Sprintf("%.2f of %.2f", realized, predicted)
}

// Quantity returns a number of dilations as the API has it, in hundredths.
func Quantity(x float64) *resource.Quantity {
	return resource.NewMilliQuantity(int64(math.Round(x*100))*10, resource.DecimalSI)
}

// ready returns the condition Ready.
func ready(in *Input, paused *metav1.Condition) metav1.Condition {
	p := in.Policy
	is := func(status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionReady, Status: status, Reason: reason, Message: message}
	}
	compiled, errs := Compile(p)
	switch {
	case len(errs) > 0:
		return is(metav1.ConditionFalse, v1alpha1.ReasonInvalid, errs.ToAggregate().Error())
	case !compiled.Changes():
		return is(metav1.ConditionTrue, v1alpha1.ReasonAdvising, "changes are proposed, and none is made")
	case compiled.Exhausted() != "":
		return is(metav1.ConditionFalse, v1alpha1.ReasonNothingAllowed, fmt.Sprintf("no change is started, for spec.budget.%s is 0", compiled.Exhausted()))
	case p.Spec.State == v1alpha1.PolicySuspended:
		return is(metav1.ConditionFalse, v1alpha1.ReasonSuspended, "no change is started, for spec.state is Suspended")
	case in.Stopped != "":
		return is(metav1.ConditionFalse, v1alpha1.ReasonSuspended, in.Stopped)
	case paused.Status == metav1.ConditionTrue:
		return is(metav1.ConditionFalse, v1alpha1.ReasonSuspended, "no change is started: "+paused.Message)
	case p.Spec.Mode == v1alpha1.RemediationApprove:
		return is(metav1.ConditionTrue, v1alpha1.ReasonChanging, "changes that are approved are made")
	default:
		return is(metav1.ConditionTrue, v1alpha1.ReasonChanging, "changes are made")
	}
}

// conflicted returns the condition Conflicted.
func conflicted(c Conflict) metav1.Condition {
	if c.Pods == 0 {
		return metav1.Condition{
			Type: v1alpha1.ConditionConflicted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNoOverlap, Message: "no other policy that changes pods has the same ones",
		}
	}
	return metav1.Condition{
		Type: v1alpha1.ConditionConflicted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSelectorOverlap,
		Message: fmt.Sprintf("%d pods belong to RemediationPolicy %s and others that are older: have the selectors choose different pods", c.Pods, c.With),
	}
}

// Paused returns the condition Paused of a policy, given the Remediations of the cluster, or
// of the policy. A policy that is paused stays so until its spec is changed; from then on only
// later changes count.
func Paused(p *v1alpha1.RemediationPolicy, all []v1alpha1.Remediation) metav1.Condition {
	is := func(status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionPaused, Status: status, Reason: reason, Message: message}
	}
	was := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionPaused)
	var since metav1.Time
	if was != nil {
		switch {
		case was.Status != metav1.ConditionTrue:
			since = was.LastTransitionTime
		case was.ObservedGeneration == p.Generation:
			return *was
		default:
			return is(metav1.ConditionFalse, v1alpha1.ReasonTooFewJudged, "the policy was changed after it had been paused")
		}
	}
	last := lastJudged(p.Name, since, all)
	if len(last) < judgedForPause {
		return is(metav1.ConditionFalse, v1alpha1.ReasonTooFewJudged, fmt.Sprintf("%d of the %d changes that it takes to say so were judged", len(last), judgedForPause))
	}
	var predicted, realized float64
	for _, r := range last {
		predicted += r.Spec.Prediction.Win.AsApproximateFloat64()
		realized += r.Status.Realized.Win.AsApproximateFloat64()
	}
	won := fmt.Sprintf("the last %d changes won %.2f of the predicted %.2f", judgedForPause, realized, predicted)
	if realized < enoughWon*predicted {
		return is(metav1.ConditionTrue, v1alpha1.ReasonWonTooLittle, won+"; change spec to go on")
	}
	return is(metav1.ConditionFalse, v1alpha1.ReasonWonAsPredicted, won)
}

// lastJudged returns the last changes of a policy that were started since a time and judged.
func lastJudged(policy string, since metav1.Time, all []v1alpha1.Remediation) []*v1alpha1.Remediation {
	var judged []*v1alpha1.Remediation
	for i := range all {
		r := &all[i]
		if r.Spec.Policy == policy && r.Status.Realized != nil && Started(r) && !r.Status.StartTime.Before(&since) {
			judged = append(judged, r)
		}
	}
	slices.SortFunc(judged, newestFirst)
	return judged[:min(len(judged), judgedForPause)]
}

// newestFirst orders changes by when they were started.
func newestFirst(a, b *v1alpha1.Remediation) int {
	return cmp.Or(b.Status.StartTime.Compare(a.Status.StartTime.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
