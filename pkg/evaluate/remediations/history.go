package remediations

import (
	"slices"
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// countsFor is for how long after it began a change counts for the budget of an hour.
const countsFor = time.Hour

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
	counts := max(countsFor, p.CoolDown)
	return slices.DeleteFunc(done[p.History:], func(r *v1alpha1.Remediation) bool { return now.Sub(r.Status.CompletionTime.Time) < counts })
}

// Abandoned returns the Remediations of a policy that is gone that need not be kept, and reports
// whether there are others of it.
func Abandoned(policy string, all []v1alpha1.Remediation, now time.Time) (old []*v1alpha1.Remediation, others bool) {
	for i := range all {
		r := &all[i]
		switch ended := completed(r); {
		case r.Spec.Policy != policy:
		case ended != nil && now.Sub(ended.Time) >= countsFor:
			old = append(old, r)
		default:
			others = true
		}
	}
	return old, others
}
