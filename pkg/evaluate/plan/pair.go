package plan

import (
	"cmp"
	"slices"

	"loadline.dev/loadline/pkg/cgroup"
)

const (
	// enabling is how many pods that are in the way are tried of each node, and pairing how many nodes for each pod that may go there.
	enabling, pairing = 4, 2
)

// pairs returns changes of two steps that are tried for some pods of a host which no single change helps: the first makes room for the
// second, or swaps pods with it.
func (s *search) pairs(h *host, slow []int) (all []*candidate) {
	culprits := h.culprits(slow)
	for _, i := range slow {
		for _, k := range h.inTheWay(i) {
			all = s.lowerFor(all, h, k, func(st *state) []*candidate {
				now := st.nodes[h.node.Name]
				return s.add(nil, now, now.index(h.members[i].subject), raiseRequest(now, now.index(h.members[i].subject)))
			})
		}
	}
	if !s.allows(MovePod) || s.state.feasibility == nil {
		return all
	}
	for _, i := range slices.Concat(slow, culprits) {
		if s.evict(h, i).Refused != "" {
			continue
		}
		targets := s.cheapest(h, i)
		for _, to := range targets[:min(len(targets), pairing)] {
			all = append(all, s.makingWay(h, i, to)...)
		}
	}
	return all
}

// makingWay returns pairs of which the second is the move of a member to another host, and the first moves a pod from there, to where the
// member was or to where it costs least, or lowers its request.
func (s *search) makingWay(h *host, i int, to *host) (all []*candidate) {
	who := h.members[i].subject
	second := func(st *state) []*candidate {
		from, there := st.nodes[h.node.Name], st.nodes[to.node.Name]
		at := from.index(who)
		if fit := st.feasibility.Of(from.object(at))(there.node.Name); fit.Refused != "" || fit.Unknown != "" {
			return nil
		}
		return []*candidate{move(from, at, from.without(at), there)}
	}
	for _, k := range to.inTheWay(-1) {
		all = s.lowerFor(all, to, k, second)
		v := s.evict(to, k)
		if v.Refused != "" {
			continue
		}
		targets := s.cheapest(to, k)
		targets = targets[:min(len(targets), 1)]
		if !slices.Contains(targets, h) {
			targets = append(targets, h)
		}
		fit, left := s.state.feasibility.Of(to.object(k)), to.without(k)
		for _, away := range targets {
			if verdict := fit(away.node.Name); verdict.Refused != "" || verdict.Unknown != "" {
				continue
			}
			first := move(to, k, left, away)
			first.notes, first.lost = v.Notes, v.LostSeconds
			all = append(all, s.paired(first, second)...)
		}
	}
	return all
}

// lowerFor adds pairs of which the first lowers the request of a member of a host.
func (s *search) lowerFor(all []*candidate, h *host, k int, second func(*state) []*candidate) []*candidate {
	if !s.allows(LowerRequest) {
		return all
	}
	for _, first := range s.add(nil, h, k, lowerRequest(h, k)) {
		all = append(all, s.paired(first, second)...)
	}
	return all
}

// inTheWay returns the members of a host, but for one, that request or use most.
func (h *host) inTheWay(but int) (some []int) {
	for k := range h.members {
		if k != but {
			some = append(some, k)
		}
	}
	const core = 1000
	weight := func(k int) float64 { return max(float64(cgroup.MilliCPU(h.object(k)))/core, h.members[k].runs()) }
	slices.SortStableFunc(some, func(a, b int) int { return cmp.Compare(weight(b), weight(a)) })
	return some[:min(len(some), enabling)]
}

// paired returns the pairs of a first change with each second one, as changes of two steps.
func (s *search) paired(first *candidate, second func(*state) []*candidate) (all []*candidate) {
	if s.banned[first.change.key()] {
		return nil
	}
	st := s.state.clone()
	st.apply(first)
	for _, last := range second(st) {
		if s.banned[last.change.key()] {
			continue
		}
		both := &candidate{change: last.change, who: last.who, lost: first.lost + last.lost, steps: []*candidate{first, last}}
		for _, step := range both.steps {
			for i, before := range step.before {
				at := slices.IndexFunc(both.before, func(h *host) bool { return h.node == before.node })
				if at < 0 {
					both.before, both.after = append(both.before, before), append(both.after, step.after[i])
				} else {
					both.after[at] = step.after[i]
				}
			}
		}
		first := *first
		first.enables = true
		both.steps[0] = &first
		all = append(all, both)
	}
	return all
}
