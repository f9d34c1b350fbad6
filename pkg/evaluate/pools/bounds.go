package pools

import (
	"context"
	"errors"
	"slices"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/model/sizing"
)

// bound converts the need of a pool to whole replicas, within its bounds.
func (p *planner) bound(ctx context.Context, spec *v1alpha1.PlannedPool, pool *sizing.Pool) (*Bounds, error) {
	kept, err := p.fewest(ctx, pool.Classes, 1+p.tolerance)
	if err != nil {
		return nil, err
	}
	each := int(atLeastOne(spec.ServersPerReplica))
	within := func(servers int) int {
		replicas := up(max(servers, int(atLeastOne(spec.MinServers))), each)
		if spec.MaxServers != nil {
			replicas = min(replicas, int(*spec.MaxServers)/each)
		}
		return replicas
	}
	b := &Bounds{Replicas: within(pool.Servers), ReplicasToKeep: within(kept.Servers)}
	b.Servers = b.Replicas * each
	if b.Limited = b.Servers < pool.Servers; !b.Limited {
		return b, nil
	}
	order := make([]int, len(pool.Order))
	for i, k := range pool.Order {
		order[i] = slices.Index(pool.Classes, k)
	}
	if len(order) == 0 {
		order = nil
	}
	b.Attained, err = sizing.Attain(ctx, p.some(pool.Classes, 1), b.Servers, order, p.options)
	if errors.Is(err, queueing.ErrUnstable) {
		b.Unstable, b.Attained, err = true, nil, nil
	}
	if b.Attained != nil && order != nil { // the classes of the answer are in order of priority
		attained := make([]float64, len(order))
		for i, k := range order {
			attained[i] = b.Attained[k]
		}
		b.Attained = attained
	}
	return b, err
}

// up divides and rounds up.
func up(a, b int) int { return (a + b - 1) / b }
