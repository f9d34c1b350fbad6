package sizing

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Strategy says how classes share pools.
type Strategy string

// The strategies.
const (
	DedicatedPools Strategy = "Dedicated"   // a pool for each class: the paper's DA
	SharedPool     Strategy = "Shared"      // one pool for all: the paper's SA
	Partitioned    Strategy = "Partitioned" // something in between
)

// Plan is a partition of classes into pools.
type Plan struct {
	Strategy Strategy
	Pools    []Pool // in the order of their first class
	Servers  int    // of all pools
	Cost     float64
	// LowerBound is a lower bound on the cost of every plan, the best one included. Gap is the
	// largest excess of this plan's cost over the best, as a fraction of its own cost: 0 if it is
	// known to be the best.
	LowerBound, Gap float64
}

// newPlan adds up pools.
func newPlan(pools []Pool, classes int) Plan {
	p := Plan{Strategy: Partitioned, Pools: pools}
	switch len(pools) {
	case 1:
		p.Strategy = SharedPool
	case classes:
		p.Strategy = DedicatedPools
	}
	for _, pool := range pools {
		p.Servers += pool.Servers
		p.Cost += pool.Cost
	}
	return p
}

// bounded returns the plan with its gap to a bound.
func (p Plan) bounded(bound float64) Plan {
	p.LowerBound = min(bound, p.Cost)
	if p.Cost > 0 {
		p.Gap = 1 - p.LowerBound/p.Cost
	}
	return p
}

// Shared returns the plan of one pool for all classes. The errors are those of
// [Fewest].
func Shared(ctx context.Context, classes []Class, o Options) (Plan, error) {
	return planOf(ctx, classes, o, [][]int{indices(classes)})
}

// Dedicated returns the plan of a pool for each class. A pool of one class is first
// come first served, whatever the discipline, unless that gives up on late jobs. The
// errors are those of [Fewest].
func Dedicated(ctx context.Context, classes []Class, o Options) (Plan, error) {
	var groups [][]int
	for k := range classes {
		groups = append(groups, []int{k})
	}
	return planOf(ctx, classes, o, groups)
}

func planOf(ctx context.Context, classes []Class, o Options, groups [][]int) (Plan, error) {
	if err := errors.Join(o.validate(), Validate(classes)); err != nil {
		return Plan{}, err
	}
	pools := make([]Pool, 0, len(groups))
	for _, members := range groups {
		pool, err := fewest(ctx, classes, members, 1, o)
		if err != nil {
			return Plan{}, fmt.Errorf("a pool for %s: %w", names(classes, members), err)
		}
		pools = append(pools, pool)
	}
	return newPlan(pools, len(classes)).bounded(lowerBound(classes, o)), nil
}

// names lists classes for an error.
func names(classes []Class, members []int) string {
	if len(members) == len(classes) && len(members) > 1 {
		return "all classes"
	}
	quoted := make([]string, len(members))
	for i, k := range members {
		quoted[i] = fmt.Sprintf("class %q", classes[k].Name)
	}
	return strings.Join(quoted, ", ")
}
