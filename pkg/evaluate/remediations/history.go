package remediations

import (
	"slices"
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Outdated returns the completed Remediations of a policy that need not be kept: all but the
// latest, as many as the policy says, and those by which budgets and cool-downs count.
func (p *Policy) Outdated(all []v1alpha1.Remediation, now time.Time) []*v1alpha1.Remediation {
	var done []*v1alpha1.Remediation
	for i := range all {
		if r := &all[i]; r.Spec.Policy == p.Name && completed(r) != nil {
			done = append(done, r)
		}
	}
	slices.SortFunc(done, func(a, b *v1alpha1.Remediation) int {
		return b.Status.CompletionTime.Compare(a.Status.CompletionTime.Time)
	})
	if len(done) <= p.History {
		return nil
	}
	counts := max(time.Hour, p.CoolDown)
	return slices.DeleteFunc(done[p.History:], func(r *v1alpha1.Remediation) bool { return now.Sub(r.Status.CompletionTime.Time) < counts })
}
