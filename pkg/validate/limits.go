package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// limits warns of values that the policy limits.loadline.dev would refuse by default, besides those that the definition refuses.
// Where a cluster was asked, its own has its say.
func (w *world) limits(o *object, p *v1alpha1.WorkloadProfile) {
	if w.in.Cluster != nil {
		return
	}
	const by = "by default the policy limits.loadline.dev refuses that, and the scheduler counts it as that"
	if sla := p.Spec.SLA; sla != nil && sla.MaxDilation != nil {
		if least := w.defaults.MinMaxDilation; sla.MaxDilation.AsApproximateFloat64() < least {
			o.add(path{"spec", "sla", "maxDilation"}, Warning, beyond(sla.MaxDilation, "less", least)+by)
		}
	}
	if q := p.Spec.Importance; q != nil {
		if most := w.defaults.MaxImportance; q.AsApproximateFloat64() > most {
			o.add(path{"spec", "importance"}, Warning, beyond(q, "more", most)+by)
		}
	}
}

// beyond says that a number is less or more than a limit.
func beyond(q *resource.Quantity, than string, limit float64) string {
	return fmt.Sprintf("%s is %s than %v: ", q, than, limit)
}
