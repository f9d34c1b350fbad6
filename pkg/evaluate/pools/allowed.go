package pools

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// refusal says why a pool must not be scaled: the author of a profile may scale objects in the
// profile's own namespace, and elsewhere only if those who label namespaces allow it. Empty if it
// may be scaled.
func (p *planner) refusal(pool *v1alpha1.PlannedPool) string {
	if pool.ScaleTarget == nil || p.in.Namespaces == nil {
		return ""
	}
	var refused []string
	for _, name := range pool.Classes {
		for i := range p.in.Plan.Spec.Classes {
			class := &p.in.Plan.Spec.Classes[i]
			if class.Name != name || class.Profile == nil || class.Profile.Namespace == pool.ScaleTarget.Namespace {
				continue
			}
			if labels := p.in.Namespaces[class.Profile.Namespace]; labels[v1alpha1.PoolsLabel] != v1alpha1.PoolsAllow {
				refused = append(refused, fmt.Sprintf("class %q follows the WorkloadProfile %s/%s, whose namespace does not let its profiles scale %s of namespace %q: label it %s=%s if they may",
					name, class.Profile.Namespace, class.Profile.Name, pool.ScaleTarget.Kind, pool.ScaleTarget.Namespace, v1alpha1.PoolsLabel, v1alpha1.PoolsAllow))
			}
		}
	}
	return strings.Join(refused, "; ")
}

// assumed states the assumptions about unknown namespaces, empty if there are none.
func (p *planner) assumed() string {
	if p.in.Namespaces != nil {
		return ""
	}
	in := *p.in
	in.Namespaces = map[string]map[string]string{}
	strict := &planner{in: &in}
	var needing []string
	for i := range p.pools {
		if strict.refusal(&p.pools[i]) != "" {
			needing = append(needing, p.pools[i].Name)
		}
	}
	if len(needing) == 0 {
		return ""
	}
	return fmt.Sprintf("assumed that the namespaces of the profiles let them scale what is in other namespaces (label %s=%s), for %s",
		v1alpha1.PoolsLabel, v1alpha1.PoolsAllow, strings.Join(needing, ", "))
}
