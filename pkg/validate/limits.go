package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// maxThreads is how many threads the policy limits.loadline.dev lets pods be said to have, by default.
const maxThreads = 1024

// limits warns of what that policy would refuse as it is by default. Where a cluster was asked, its own has its say.
func (w *world) limits(o *object, p *v1alpha1.WorkloadProfile) {
	if w.in.Cluster != nil {
		return
	}
	const by = "by default the policy limits.loadline.dev refuses that"
	if sla := p.Spec.SLA; sla != nil && sla.MaxDilation != nil {
		if least := w.defaults.MinMaxDilation; sla.MaxDilation.AsApproximateFloat64() < least {
			o.add(path{"spec", "sla", "maxDilation"}, Warning, beyond(sla.MaxDilation, "less", least)+by+", and the scheduler counts it as that")
		}
	}
	if q := p.Spec.Importance; q != nil {
		if most := w.defaults.MaxImportance; q.AsApproximateFloat64() > most {
			o.add(path{"spec", "importance"}, Warning, beyond(q, "more", most)+by+", and the scheduler counts it as that")
		}
	}
	threads := func(at path, n *int32) {
		if n != nil && *n > maxThreads {
			o.add(append(at, "threads"), Warning, fmt.Sprintf("%d is more than %d: %s", *n, maxThreads, by))
		}
	}
	for i := range p.Spec.Resources {
		threads(path{"spec", "resources", i}, p.Spec.Resources[i].Threads)
	}
	if m := p.Spec.Measurement; m != nil {
		for i := range m.Resources {
			threads(path{"spec", "measurement", "resources", i}, m.Resources[i].Threads)
		}
	}
}

// beyond says that a number is less or more than a limit.
func beyond(q *resource.Quantity, than string, limit float64) string {
	return fmt.Sprintf("%s is %s than %v: ", q, than, limit)
}
