package sizing

import (
	"context"
	"errors"
	"math"
	"math/bits"
)

// Best returns the plan that costs least, of equally cheap ones one with the fewest
// pools. Up to [Options].MaxExactClasses classes it compares all partitions; with more
// it searches, and says in Plan.Gap how far from the best it may be. The errors are
// those of [Validate] and the context.
func Best(ctx context.Context, classes []Class, o Options) (Plan, error) {
	if err := errors.Join(o.validate(), Validate(classes)); err != nil {
		return Plan{}, err
	}
	if len(classes) > o.maxExactClasses() {
		return search(ctx, classes, o)
	}
	plan, err := bestPartition(ctx, classes, o)
	if err != nil {
		return Plan{}, err
	}
	return plan.bounded(plan.Cost), nil
}

// set is a set of classes, a bit for each.
type set uint32

func (s set) members() []int {
	members := make([]int, 0, bits.OnesCount32(uint32(s)))
	for ; s != 0; s &= s - 1 {
		members = append(members, bits.TrailingZeros32(uint32(s)))
	}
	return members
}

// price is the cost of a set of pools. Fewer pools are better at the same cost.
type price struct {
	cost  float64
	pools int
}

func (p price) plus(q price) price { return price{p.cost + q.cost, p.pools + q.pools} }

// below reports whether p is better than q; sums of the same costs in another order are
// the same.
func (p price) below(q price) bool {
	if math.Abs(p.cost-q.cost) > 1e-9*math.Min(p.cost, q.cost) {
		return p.cost < q.cost
	}
	return p.pools < q.pools
}

// bestPartition finds the cheapest partition of every set of classes from those of smaller sets:
// its first class is in some pool, the others are partitioned at best. It searches one pool for the
// whole set only up to that cost.
func bestPartition(ctx context.Context, classes []Class, o Options) (Plan, error) {
	all := set(1)<<len(classes) - 1
	pools := make([]option, all+1)
	best := make([]price, all+1)
	first := make([]set, all+1) // the pool of the first class of each set
	monotone := !o.Discipline.Simulated() || o.Discipline != LateLast && uniform(classes)
	for s := set(1); s <= all; s++ {
		lowest := s & -s
		rest := s &^ lowest
		best[s].cost = math.Inf(1)
		for others := (rest - 1) & rest; others != rest; others = (others - 1) & rest {
			pool := lowest | others
			if p := (price{pools[pool].cost, 1}).plus(best[s&^pool]); p.below(best[s]) {
				best[s], first[s] = p, pool
			}
			if others == 0 {
				break
			}
		}
		pool, err := optionOf(ctx, classes, s.members(), neededBy(s, pools, monotone), best[s].cost, o)
		if err != nil {
			return Plan{}, err
		}
		pools[s] = pool
		if p := (price{pool.cost, 1}); p.below(best[s]) {
			best[s], first[s] = p, s
		}
	}
	var chosen []Pool
	for s := all; s != 0; s &^= first[s] {
		pool, err := pools[first[s]].pool(ctx, classes, first[s].members(), o)
		if err != nil {
			return Plan{}, err
		}
		chosen = append(chosen, pool)
	}
	return newPlan(chosen, len(classes)), nil
}

// option is a pool that a plan may have.
type option struct {
	servers   int     // the fewest; or fewer, if the cost is infinite
	cost      float64 // infinite if the classes cannot share, or the pool is not worth it
	simulated *Pool   // nil if it is computed
}

// pool returns all about it.
func (p option) pool(ctx context.Context, classes []Class, members []int, o Options) (Pool, error) {
	if p.simulated != nil {
		return *p.simulated, nil
	}
	return fewest(ctx, classes, members, p.servers, o)
}

// neededBy returns the least number of servers that a set of classes needs, from the needs of the
// sets with a class less, where it is certain that the jobs of another class never help.
func neededBy(s set, pools []option, certain bool) int {
	needed := 1
	for rest := s; certain && rest != 0; rest &= rest - 1 {
		needed = max(needed, pools[s&^(rest&-rest)].servers)
	}
	return needed
}

// optionOf returns the smallest pool for some classes with atLeast servers or more that
// costs no more than a limit.
func optionOf(ctx context.Context, classes []Class, members []int, atLeast int, limit float64, o Options) (option, error) {
	chosen := selected(classes, members)
	if o.simulates(chosen) {
		pool, err := fewest(ctx, classes, members, atLeast, o)
		return option{pool.Servers, pool.Cost, &pool}, err
	}
	if err := ctx.Err(); err != nil {
		return option{}, err
	}
	atMost := limit * (1 + 1e-9) / costOf(chosen, 1)
	servers, err := count(chosen, atLeast, atMost, o)
	switch {
	case errors.Is(err, ErrDifferentRates):
		return option{cost: math.Inf(1)}, nil
	case err == nil && float64(servers) > atMost:
		return option{servers: servers, cost: math.Inf(1)}, nil
	default:
		return option{servers: servers, cost: costOf(chosen, servers)}, err
	}
}
