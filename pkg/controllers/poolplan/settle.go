package poolplan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
)

// severity lists the reasons of the condition Applied, the worst first: of
// several pools the worst one gives the reason.
var severity = []string{
	v1alpha1.ReasonInvalid, v1alpha1.ReasonInfeasible, v1alpha1.ReasonTooCostly, v1alpha1.ReasonProfileNotAllowed,
	v1alpha1.ReasonTargetForbidden, v1alpha1.ReasonTargetNotFound, v1alpha1.ReasonTargetUnavailable, v1alpha1.ReasonHPAConflict,
	v1alpha1.ReasonLimited, v1alpha1.ReasonStepping, v1alpha1.ReasonScaled, v1alpha1.ReasonWaitingToScaleDown, v1alpha1.ReasonAtTarget,
}

// anyScales reports whether some move scales its pool.
func anyScales(moves []move) bool {
	return slices.ContainsFunc(moves, func(m move) bool { return m.scales() })
}

// settled returns the status once every move was made or has failed, with the condition
// Applied, and for each pool that was scaled when and to what.
func (d *decision) settled(in *input, done []move) v1alpha1.PoolPlanStatus {
	status := *d.status.DeepCopy()
	c := applied(in, status.Conditions, done)
	c.ObservedGeneration, c.LastTransitionTime = in.plan.Generation, metav1.NewTime(in.now)
	c.Message = condition.Message(c.Message)
	meta.SetStatusCondition(&status.Conditions, c)
	for i := range done {
		m := &done[i]
		if !m.scales() {
			continue
		}
		for k := range status.Pools {
			if status.Pools[k].Name == m.pool {
				status.Pools[k].CurrentReplicas = new(m.to)
				status.Pools[k].LastScaleTime = new(metav1.NewMicroTime(in.now))
			}
		}
	}
	return status
}

// applied returns the condition Applied, given the other conditions.
func applied(in *input, others []metav1.Condition, done []move) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionApplied, Status: metav1.ConditionFalse}
	ready := meta.FindStatusCondition(others, v1alpha1.ConditionReady)
	switch {
	case in.plan.Spec.Mode != v1alpha1.ModeApply:
		c.Reason, c.Message = v1alpha1.ReasonAdvising, "nothing is scaled, for the mode is advise"
		return c
	case len(done) == 0:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, ready.Reason, "nothing is scaled: "+ready.Message
		return c
	}
	worst := len(severity) - 1
	var messages []string
	for _, m := range done {
		worst = min(worst, slices.Index(severity, m.reason))
		messages = append(messages, fmt.Sprintf("pool %q: %s", m.pool, m.message))
	}
	c.Reason, c.Message = severity[worst], strings.Join(messages, "; ")
	if worst >= slices.Index(severity, v1alpha1.ReasonScaled) {
		c.Status = metav1.ConditionTrue
	}
	return c
}
