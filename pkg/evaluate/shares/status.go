package shares

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

const (
	// maxStatusWorkloads is how many leaves a status lists, maxStatusLeftOut how many
	// profiles that are left out, each with a message of maxLeftOutMessage bytes.
	maxStatusWorkloads = 1000
	maxStatusLeftOut   = 32
	maxLeftOutMessage  = 512
)

// Status returns the status of a tree, given its answer, or why there is
// none. Conditions change at now.
func Status(tree *v1alpha1.ShareTree, a *TreeAnswer, why error, now metav1.Time) v1alpha1.ShareTreeStatus {
	var status v1alpha1.ShareTreeStatus
	tree.Status.DeepCopyInto(&status)
	status.ObservedGeneration = new(tree.Generation)
	status.Utilization, status.WorkloadCount, status.MissedSLAs, status.Workloads = nil, nil, nil, nil
	left := leftOutOf(a, why)
	status.LeftOutCount, status.LeftOut = new(int32(len(left))), nil
	for _, l := range left[:min(len(left), maxStatusLeftOut)] {
		status.LeftOut = append(status.LeftOut, v1alpha1.ShareTreeLeftOut{Name: l.Name, Reason: l.Reason, Message: text.Abridge(l.Message, maxLeftOutMessage)})
	}
	if a != nil {
		status.Utilization = profile.Fraction(a.Utilization)
		status.WorkloadCount = new(int32(a.Workloads))
		status.MissedSLAs = new(int32(len(a.Missed())))
		for i := range a.Nodes {
			if n := &a.Nodes[i]; n.Workload && len(status.Workloads) < maxStatusWorkloads {
				status.Workloads = append(status.Workloads, n.status())
			}
		}
	}
	condition.Set(&status.Conditions, tree.Generation, now, ready(a, why))
	return status
}

// leftOutOf returns the profiles that are not part of a tree, whether it has an answer or
// none.
func leftOutOf(a *TreeAnswer, why error) []LeftOut {
	if a != nil {
		return a.LeftOut
	}
	if because, is := errors.AsType[*Error](why); is {
		return because.leftOut
	}
	return nil
}

// absence returns why a profile is not part of a tree, nil if it is.
func absence(a *TreeAnswer, why error, name string) *LeftOut {
	var absent map[string]int
	if a != nil {
		absent = a.absent
	} else if because, is := errors.AsType[*Error](why); is {
		absent = because.absent
	}
	if i, is := absent[name]; is {
		return &leftOutOf(a, why)[i]
	}
	return nil
}

func (n *TreeNode) status() v1alpha1.ShareTreeWorkload {
	s := v1alpha1.ShareTreeWorkload{Name: n.Name, Portion: profile.Fraction(n.Portion), Utilization: profile.Fraction(n.Utilization), ResponseFactor: profile.Fraction(*n.Factor)}
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

func ready(a *TreeAnswer, why error) (c metav1.Condition) {
	c = metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reasonOf(why)}
	defer func() { c.Message += leftOutRemark(leftOutOf(a, why)) }()
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
	if len(a.Empty) > 0 {
		c.Message += fmt.Sprintf("; %d groups have no workload, such as %s", len(a.Empty), a.Empty[0])
	}
	return c
}

// leftOutRemark names profiles that are left out, after another message.
func leftOutRemark(left []LeftOut) string {
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("; WorkloadProfiles that are left out: %d, such as %s: %s", len(left), left[0].Name, left[0].Message)
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
	condition.Set(&conditions, p.Generation, now, slaAttainable(p, a, why))
	return conditions
}

func slaAttainable(p *v1alpha1.WorkloadProfile, a *TreeAnswer, why error) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionSLAAttainable, Status: metav1.ConditionUnknown}
	tree := p.Spec.FairShare.Tree
	left := absence(a, why, text.QualifiedName(p))
	switch {
	case a == nil && why == nil:
		c.Reason = v1alpha1.ReasonTreeNotFound
		c.Message = fmt.Sprintf("there is no ShareTree %q", tree)
		return c
	case left != nil:
		if c.Reason = left.Reason; c.Reason == v1alpha1.ReasonOverloaded && p.Spec.SLA != nil {
			c.Status = metav1.ConditionFalse
		}
		c.Message = fmt.Sprintf("ShareTree %q leaves this profile out: %s", tree, left.Message)
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
	i, known := a.workloads[text.QualifiedName(p)]
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

// Absence returns why a profile is not part of the tree that it names, as errors of its
// fields, nil if it is. The answer, or the reason for none, is that of [OfTree].
func Absence(p *v1alpha1.WorkloadProfile, a *TreeAnswer, why error) error {
	left := absence(a, why, text.QualifiedName(p))
	switch {
	case left == nil:
		return nil
	case len(left.invalid) > 0:
		return left.invalid.ToAggregate()
	default:
		return field.Invalid(field.NewPath("spec", "fairShare", "tree"), p.Spec.FairShare.Tree, left.Message)
	}
}

// probability returns what is asked, or its default.
func (s *SLA) probability() float64 {
	if s.Probability == nil {
		return profile.DefaultSLAProbability
	}
	return *s.Probability
}
