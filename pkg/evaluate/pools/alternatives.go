package pools

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"loadline.dev/loadline/pkg/model/sizing"
)

// alternatives returns other ways to share pools than the chosen one.
func (p *planner) alternatives(ctx context.Context, chosen *sizing.Plan) ([]Alternative, error) {
	if p.skips() || len(p.classes) == 1 {
		return nil, nil
	}
	var list []Alternative
	known := []*sizing.Plan{chosen}
	for _, find := range []func(context.Context, []sizing.Class, sizing.Options) (sizing.Plan, error){sizing.Shared, sizing.Dedicated, sizing.Best} {
		o := p.options
		o.Work = p.aside
		plan, err := find(ctx, p.classes, o)
		if errors.Is(err, sizing.ErrDifferentRates) {
			continue // these classes cannot share
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(known, func(other *sizing.Plan) bool { return samePools(&plan, other) }) {
			continue
		}
		known = append(known, &plan)
		list = append(list, p.alternative(&plan))
	}
	slices.SortStableFunc(list, func(a, b Alternative) int { return cmp.Compare(a.Cost, b.Cost) })
	return list, nil
}

func (p *planner) alternative(plan *sizing.Plan) Alternative {
	a := Alternative{Strategy: strategyName(plan.Strategy), Servers: plan.Servers, Cost: plan.Cost}
	for _, pool := range plan.Pools {
		some := AlternativePool{
			Name: p.nameOf(pool.Classes), Servers: pool.Servers, Binding: p.className(pool.Binding),
			Error: pool.Error, FewerMayDo: pool.FewerMayDo, MoreMayBeNeeded: pool.MoreMayBeNeeded,
		}
		for _, k := range pool.Classes {
			some.Classes = append(some.Classes, p.classes[k].Name)
		}
		a.Pools = append(a.Pools, some)
	}
	return a
}

// samePools reports whether two plans put the same classes together.
func samePools(a, b *sizing.Plan) bool {
	groups := func(plan *sizing.Plan) [][]int {
		var groups [][]int
		for _, pool := range plan.Pools {
			groups = append(groups, slices.Sorted(slices.Values(pool.Classes)))
		}
		slices.SortFunc(groups, slices.Compare)
		return groups
	}
	return slices.EqualFunc(groups(a), groups(b), slices.Equal)
}
