package shares

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/profile"
)

// maxStatusWorkloads is how many leaves a status lists.
const maxStatusWorkloads = 1000

// Status returns the status of a tree, given its answer, or why there is
// none. Conditions change at now.
func Status(tree *v1alpha1.ShareTree, a *TreeAnswer, why error, now metav1.Time) v1alpha1.ShareTreeStatus {
	var status v1alpha1.ShareTreeStatus
	tree.Status.DeepCopyInto(&status)
	status.ObservedGeneration = new(tree.Generation)
	status.Utilization, status.WorkloadCount, status.MissedSLAs, status.Workloads = nil, nil, nil, nil
	if a != nil {
		status.Utilization = evaluate.Fraction(a.Utilization)
		status.WorkloadCount = new(int32(a.Workloads))
		status.MissedSLAs = new(int32(len(a.Missed())))
		for i := range a.Nodes {
			if n := &a.Nodes[i]; n.Workload && len(status.Workloads) < maxStatusWorkloads {
				status.Workloads = append(status.Workloads, n.status())
			}
		}
	}
	evaluate.SetConditions(&status.Conditions, tree.Generation, now, ready(a, why))
	return status
}

func (n *TreeNode) status() v1alpha1.ShareTreeWorkload {
	s := v1alpha1.ShareTreeWorkload{Name: n.Name, Portion: evaluate.Fraction(n.Portion), Utilization: evaluate.Fraction(n.Utilization), ResponseFactor: evaluate.Fraction(*n.Factor)}
	if n.ResponseSeconds != nil {
		s.ResponseMillis = new(int64(math.Round(1000 * *n.ResponseSeconds)))
	}
	if n.SLA != nil {
		s.SLA = v1alpha1.SLAMissed
		if n.SLA.Met {
			s.SLA = v1alpha1.SLAMet
		}
	}
	return s
}

func ready(a *TreeAnswer, why error) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reasonOf(why)}
	if a == nil {
		c.Message = why.Error()
		return c
	}
	c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonPredicted
	c.Message = fmt.Sprintf("the mean response times of %d workloads are in status.workloads", a.Workloads)
	if missed := a.Missed(); len(missed) > 0 {
		worst := slices.MaxFunc(missed, func(x, y TreeNode) int { return cmp.Compare(*x.Factor, *y.Factor) })
		c.Message += fmt.Sprintf("; %d miss their SLA, such as %s: %s", len(missed), worst.Name, worst.Verdict())
	}
	return c
}

// reasonOf returns the reason for an error of [OfTree].
func reasonOf(err error) string {
	if because, is := errors.AsType[*Error](err); is {
		return because.Reason
	}
	return v1alpha1.ReasonInvalid
}

// SLAAttainable returns the conditions of a profile that is a leaf of a tree: those
// that it has, and whether its SLA can be met. Without an answer, why says why there
// is none; it is nil if there is no such tree. A profile with no fairShare loses the
// condition. Conditions change at now.
func SLAAttainable(p *v1alpha1.WorkloadProfile, a *TreeAnswer, why error, now metav1.Time) []metav1.Condition {
	conditions := slices.Clone(p.Status.Conditions)
	if p.Spec.FairShare == nil {
		meta.RemoveStatusCondition(&conditions, v1alpha1.ConditionSLAAttainable)
		return conditions
	}
	evaluate.SetConditions(&conditions, p.Generation, now, slaAttainable(p, a, why))
	return conditions
}

func slaAttainable(p *v1alpha1.WorkloadProfile, a *TreeAnswer, why error) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionSLAAttainable, Status: metav1.ConditionUnknown}
	tree := p.Spec.FairShare.Tree
	switch {
	case a == nil && why == nil:
		c.Reason = v1alpha1.ReasonTreeNotFound
		c.Message = fmt.Sprintf("there is no ShareTree %q", tree)
		return c
	case a == nil && reasonOf(why) == v1alpha1.ReasonOverloaded && p.Spec.SLA != nil:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonOverloaded
		c.Message = fmt.Sprintf("ShareTree %q: %v", tree, why)
		return c
	case a == nil:
		c.Reason = v1alpha1.ReasonTreeNotReady
		c.Message = fmt.Sprintf("ShareTree %q has no response times: %v", tree, why)
		return c
	}
	i, known := a.workloads[evaluate.QualifiedName(p)]
	if !known {
		c.Reason = v1alpha1.ReasonTreeNotReady
		c.Message = fmt.Sprintf("ShareTree %q does not have this workload yet", tree)
		return c
	}
	n := &a.Nodes[i]
	c.Message = fmt.Sprintf("ShareTree %q: %s", tree, n.Verdict())
	switch {
	case n.SLA == nil:
		c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonNoSLA
		return c
	case n.SLA.Met:
		c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonWithinSLA
	default:
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonExceedsSLA
		c.Message += "; raise its share, or that of its group, or lower its utilization"
	}
	if n.SLA.ResponseSeconds != nil {
		c.Message += fmt.Sprintf(" (the mean is compared; that %.4g%% of the jobs keep within it is not predicted)", 100*n.SLA.probability())
	}
	return c
}

// probability returns what is asked, or its default.
func (s *SLA) probability() float64 {
	if s.Probability == nil {
		return profile.DefaultSLAProbability
	}
	return *s.Probability
}
