package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/disruption"
)

const (
	// together is the largest number of changes of a set: one makes room for another, pods change places, or each takes the place of the next.
	// With paired changes there are so few sets that they are looked for after each step.
	together, paired = 3, 2
	// effort is what a set has to be worth more for each of its changes, so that of two that win as much the smaller one is made.
	effort = 0.02
	// enabling is how many pods of a node may be part of a set, and pairing how many other nodes each may go to, in a cluster of more than few
	// nodes.
	enabling, pairing = 4, 2
)

// setSearch looks for the set of changes that wins most, for a host that no single change helps enough. It is a depth-first search with a
// bound: a change wins at most what it does for the node from which it takes something, since it helps no other. Estimates say which set is
// best, and the model what it wins.
type setSearch struct {
	*search

	host  string
	most  int // changes
	tried map[string]bool
	// movable says whether pods may move.
	movable map[*subject]disruption.Verdict
	// best is the best set so far, and least what one has to be worth by estimates to be better.
	best  *candidate
	least float64
}

// bestSet returns the best set of at most some changes that helps a host, none of a single one; nil if there is none. Only of a pair the plan may
// have no room.
func (s *search) bestSet(h *host, most int) *candidate {
	if s.Alone {
		return nil
	}
	if s.Max > 0 {
		most = max(paired, min(most, s.Max-len(s.steps)))
	}
	x := &setSearch{search: s, host: h.node.Name, most: most, tried: map[string]bool{}, movable: map[*subject]disruption.Verdict{}}
	x.extend(s.state, nil, 0)
	return x.best
}

// extend tries the changes that some others, which are worth something so far, may be followed by.
func (x *setSearch) extend(st *state, made []*candidate, worth float64) {
	last := len(made)+1 == x.most
	for _, name := range x.touched(made) {
		h := x.known(st.host(name))
		if h == nil {
			continue
		}
		for _, i := range x.members(h, made) {
			// The last change has to make up for what is missing to the best set; it does so on this host only.
			missing := x.least + effort*float64(len(made)+1) - worth
			for _, c := range x.resizes(h, i) {
				x.follow(st, made, worth, c)
			}
			if !x.mayMove(h, i) {
				continue
			}
			left := x.known(h.without(i))
			if left == nil || last && h.rough.worth-left.rough.worth <= missing {
				continue
			}
			for _, to := range x.targets(st, h, i, made) {
				c := move(h, i, left, to)
				v := x.movable[h.members[i].subject]
				c.notes, c.lost = v.Notes, v.LostSeconds
				x.follow(st, made, worth, c)
			}
		}
	}
}

// follow tries a change after others.
func (x *setSearch) follow(st *state, made []*candidate, worth float64, c *candidate) {
	if x.banned[c.change.key()] {
		return
	}
	set := append(slices.Clip(made), c)
	key := keyOf(set)
	if x.tried[key] {
		return
	}
	x.tried[key] = true
	next := st.clone()
	c.worth = -c.who.weight * c.lost / horizon
	for k, h := range c.after {
		after := x.known(h)
		if after == nil {
			return
		}
		c.after[k] = after
		next.put(after)
		c.worth += c.before[k].rough.worth - after.rough.worth
	}
	worth += c.worth
	if by := worth - effort*float64(len(set)); len(set) > 1 && by > max(rounding, x.least) && x.make(set) {
		x.least = by
	}
	if len(set) < x.most {
		x.extend(next, set, worth)
	}
}

// touched returns the names of the hosts that changes concern, and that of the one that is to be helped.
func (x *setSearch) touched(made []*candidate) []string {
	names := []string{x.host}
	for _, c := range made {
		for _, h := range c.before {
			if !slices.Contains(names, h.node.Name) {
				names = append(names, h.node.Name)
			}
		}
	}
	return names
}

// members returns those of a host that may be part of a set: each may change once.
func (x *setSearch) members(h *host, made []*candidate) (some []int) {
	most := enabling
	if x.state.hasFewNodes() {
		most = maxTried
	}
	for _, i := range h.inTheWay() {
		m := &h.members[i]
		if m.moved || m.resized || slices.ContainsFunc(made, func(c *candidate) bool { return c.who == m.subject }) {
			continue
		}
		if some = append(some, i); len(some) == most {
			break
		}
	}
	return some
}

// resizes returns the changes of the request and the limits of a member.
func (x *setSearch) resizes(h *host, i int) (all []*candidate) {
	for _, of := range []struct {
		action Action
		some   func() []*candidate
	}{
		{RaiseLimit, func() []*candidate { return raiseLimits(h, i) }},
		{RaiseRequest, func() []*candidate { return []*candidate{raiseRequest(h, i)} }},
		{LowerRequest, func() []*candidate { return []*candidate{lowerRequest(h, i)} }},
	} {
		if x.allows(of.action) && (of.action != RaiseLimit || h.members[i].exact != nil) {
			all = x.add(all, h, i, of.some()...)
		}
	}
	return all
}

// mayMove reports whether a member may move.
func (x *setSearch) mayMove(h *host, i int) bool {
	if !x.allows(MovePod) || x.state.feasibility == nil {
		return false
	}
	who := h.members[i].subject
	v, known := x.movable[who]
	if !known {
		v = x.evict(h, i)
		x.movable[who] = v
	}
	return v.Refused == ""
}

// targets returns the hosts to which a member may move: those that other changes concern, and those where it costs least.
func (x *setSearch) targets(st *state, h *host, i int, made []*candidate) (some []*host) {
	add := func(name string) {
		if name == h.node.Name || slices.ContainsFunc(some, func(other *host) bool { return other.node.Name == name }) {
			return
		}
		if to := x.known(st.host(name)); to != nil {
			some = append(some, to)
		}
	}
	for _, name := range x.touched(made) {
		add(name)
	}
	most := pairing
	if st.hasFewNodes() {
		most = few
	}
	cheapest := x.cheapest(h, i)
	for _, to := range cheapest[:min(len(cheapest), most)] {
		add(to.node.Name)
	}
	return some
}

// known returns a host of which it is estimated how its members fare; nil where the model has no answer.
func (x *setSearch) known(h *host) *host {
	if h = x.shared(h); h.estimate() != nil {
		return nil
	}
	return h
}

// make makes a set the best one, if it helps and can be made in some order, and reports whether it is.
func (x *setSearch) make(set []*candidate) bool {
	for _, order := range combin.Permutations(len(set), len(set)) {
		steps := make([]*candidate, len(set))
		for k, at := range order {
			steps[k] = set[at]
		}
		if c := x.inOrder(steps); c != nil && (x.best == nil || c.worth > x.best.worth) {
			x.best = c
			return true
		}
	}
	return false
}

// inOrder returns the change that stands for some that are made one after the other, nil where one of them cannot be, or they do not help.
func (x *setSearch) inOrder(set []*candidate) *candidate {
	st, all := x.state.clone(), &candidate{}
	for k, c := range set {
		again := st.again(c)
		if again == nil || !st.fits(again) {
			return nil
		}
		for i, h := range again.after {
			if again.after[i] = x.known(h); again.after[i] == nil {
				return nil
			}
		}
		if again.solve() != nil {
			return nil
		}
		again.enables = k+1 < len(set)
		st.apply(again)
		all.steps = append(all.steps, again)
		all.change, all.who, all.lost = again.change, again.who, all.lost+again.lost
		for i, before := range again.before {
			if at := slices.IndexFunc(all.before, func(h *host) bool { return h.node == before.node }); at >= 0 {
				all.after[at] = again.after[i]
			} else {
				all.before, all.after = append(all.before, before), append(all.after, again.after[i])
			}
		}
	}
	if all.solve() != nil {
		return nil
	}
	all.worth -= effort * float64(len(set))
	if !all.wins() {
		return nil
	}
	return all
}

// keyOf identifies a set of changes in any order.
func keyOf(set []*candidate) string {
	keys := make([]string, len(set))
	for i, c := range set {
		keys[i] = fmt.Sprint(c.change.key())
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// key identifies what runs on a host, with what.
func (h *host) key() string {
	keys := make([]string, len(h.members))
	for i := range h.members {
		keys[i] = h.members[i].pod.Name() + "=" + h.members[i].amounts
	}
	slices.Sort(keys)
	return h.node.Name + ":" + strings.Join(keys, ",")
}

// inTheWay returns the members of a host, those first that request or use most.
func (h *host) inTheWay() []int {
	all := make([]int, len(h.members))
	for k := range all {
		all[k] = k
	}
	weight := func(k int) float64 { return max(float64(cgroup.MilliCPU(h.object(k)))/1000, h.members[k].runs()) }
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(weight(b), weight(a)) })
	return all
}
