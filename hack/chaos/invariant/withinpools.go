package invariant

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// WithinPools says that what a PoolPlan scales is never asked for fewer or more replicas than the plan's pool may have.
type WithinPools struct {
	events
	pools map[string]v1alpha1.PlannedPool // by the namespace and name of the target
}

// NewWithinPools returns the rule, which has seen nothing.
func NewWithinPools() *WithinPools { return &WithinPools{pools: map[string]v1alpha1.PlannedPool{}} }

// Name says what is so.
func (*WithinPools) Name() string { return "no target of a PoolPlan leaves its bounds" }

// Event follows plans and Deployments.
func (w *WithinPools) Event(e Event) []string {
	switch o := e.Object.(type) {
	case *v1alpha1.PoolPlan:
		for _, p := range o.Spec.Pools {
			if t := p.ScaleTarget; t != nil {
				w.pools[t.Namespace+"/"+t.Name] = p
			}
		}
	case *appsv1.Deployment:
		p, is := w.pools[o.Namespace+"/"+o.Name]
		if !is || e.Deleted || o.Spec.Replicas == nil {
			return nil
		}
		low, high := replicas(p.MinServers, &p, 1), replicas(p.MaxServers, &p, 1<<30)
		if n := *o.Spec.Replicas; n < low || n > high {
			return []string{fmt.Sprintf("Deployment %s/%s has %d replicas, and pool %s has %d to %d", o.Namespace, o.Name, n, p.Name, low, high)}
		}
	}
	return nil
}

// replicas returns how many replicas some servers of a pool are, or a default.
func replicas(servers *int32, p *v1alpha1.PlannedPool, otherwise int32) int32 {
	if servers == nil {
		return otherwise
	}
	each := int32(1)
	if p.ServersPerReplica != nil {
		each = *p.ServersPerReplica
	}
	return (*servers + each - 1) / each
}
