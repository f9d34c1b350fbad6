package sizing

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// search looks for a cheap partition of many classes. It puts them in order of how many
// servers their SLAs ask for, since classes with like SLAs lose least by sharing, takes
// the best partition into runs of that order, and then moves single classes between
// pools and merges pools while that helps.
func search(ctx context.Context, classes []Class, o Options) (Plan, error) {
	s := &searcher{classes: classes, alone: Options{MaxServers: o.MaxServers, Work: o.Work}, known: map[string]option{}}
	s.size = func(members []int) (option, error) { return optionOf(ctx, classes, members, 1, math.Inf(1), o) }
	groups, err := s.runs()
	if err != nil {
		return Plan{}, err
	}
	if groups, err = s.improve(groups); err != nil {
		return Plan{}, err
	}
	pools := make([]Pool, len(groups))
	for i, members := range groups {
		slices.Sort(members)
		known, err := s.option(members)
		if err != nil {
			return Plan{}, err
		}
		if pools[i], err = known.pool(ctx, classes, members, o); err != nil {
			return Plan{}, err
		}
	}
	slices.SortFunc(pools, func(a, b Pool) int { return cmp.Compare(a.Classes[0], b.Classes[0]) })
	return newPlan(pools, len(classes)).bounded(lowerBound(classes, o)), nil
}

type searcher struct {
	classes []Class
	size    func(members []int) (option, error)
	alone   Options // for a class alone
	known   map[string]option
}

// option returns the smallest pool for some classes.
func (s *searcher) option(members []int) (option, error) {
	if err := s.alone.Work.spend(1 + float64(len(members))/4); err != nil { // to look it up
		return option{}, err
	}
	members = slices.Sorted(slices.Values(members))
	key := make([]rune, len(members))
	for i, k := range members {
		key[i] = rune(k)
	}
	if pool, ok := s.known[string(key)]; ok {
		return pool, nil
	}
	pool, err := s.size(members)
	if err != nil {
		return option{}, err
	}
	s.known[string(key)] = pool
	return pool, nil
}

func (s *searcher) price(groups ...[]int) (price, error) {
	sum := price{}
	for _, members := range groups {
		if len(members) == 0 {
			continue
		}
		pool, err := s.option(members)
		if err != nil {
			return price{}, err
		}
		sum = sum.plus(price{pool.cost, 1})
	}
	return sum, nil
}

// runs returns the best partition into runs of classes with like SLAs.
func (s *searcher) runs() ([][]int, error) {
	order, err := s.bySLA()
	if err != nil {
		return nil, err
	}
	best := make([]price, len(order)+1)
	start := make([]int, len(order)+1)
	for end := 1; end <= len(order); end++ {
		best[end].cost = math.Inf(1)
		for from := end - 1; from >= 0; from-- {
			p, err := s.price(order[from:end])
			if err != nil {
				return nil, err
			}
			if p = p.plus(best[from]); p.below(best[end]) {
				best[end], start[end] = p, from
			}
		}
	}
	var groups [][]int
	for end := len(order); end > 0; end = start[end] {
		groups = append(groups, slices.Clone(order[start[end]:end]))
	}
	return groups, nil
}

// bySLA returns the classes in order of their cost and service time, and of the servers
// that each would need for the load of all.
func (s *searcher) bySLA() ([]int, error) {
	load := 0.0
	for _, c := range s.classes {
		load += c.load()
	}
	need := make([]int, len(s.classes))
	for k, c := range s.classes {
		c.Arrival = load * c.Service
		var pool Pool
		if err := pool.analyze([]Class{c}, 1, s.alone); err != nil {
			return nil, err
		}
		need[k] = pool.Servers
	}
	order := indices(s.classes)
	slices.SortStableFunc(order, func(a, b int) int {
		one, other := s.classes[a], s.classes[b]
		return cmp.Or(cmp.Compare(one.cost(), other.cost()), cmp.Compare(one.Service, other.Service), cmp.Compare(need[a], need[b]))
	})
	return order, nil
}

// improve moves single classes to other pools or one of their own, and merges pools,
// while that makes the plan better.
func (s *searcher) improve(groups [][]int) ([][]int, error) {
	for {
		better, err := s.step(groups)
		if err != nil {
			return nil, err
		}
		if better == nil {
			return groups, nil
		}
		groups = slices.DeleteFunc(better, func(g []int) bool { return len(g) == 0 })
	}
}

// step returns the groups after the first change that makes them better, nil if there
// is none.
func (s *searcher) step(groups [][]int) ([][]int, error) {
	groups = append(slices.Clone(groups), nil) // and a new pool
	for from, source := range groups {
		for to, target := range groups {
			if from == to || len(source) == 0 {
				continue
			}
			moves := [][]int{source}
			for _, k := range source {
				moves = append(moves, []int{k})
			}
			before, err := s.price(source, target)
			if err != nil {
				return nil, err
			}
			for _, moved := range moves {
				rest := slices.DeleteFunc(slices.Clone(source), func(k int) bool { return slices.Contains(moved, k) })
				joined := slices.Concat(target, moved)
				after, err := s.price(rest, joined)
				if err != nil {
					return nil, err
				}
				if after.below(before) {
					groups[from], groups[to] = rest, joined
					return groups, nil
				}
			}
		}
	}
	return nil, nil
}
