package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/observed"
)

// begin makes the changes that were proposed before, as far as each can still be made and wins.
func (s *search) begin() {
	for i := range s.First {
		c := s.proposed(&s.First[i])
		if c == nil || s.banned[c.change.key()] || !s.room(c) || !s.state.fits(c) {
			continue
		}
		if c.solve() == nil && c.wins() {
			s.take(c)
		}
	}
}

// proposed returns the candidate of a change that was proposed before; nil where the pod is not as it was then, or may not change so any more.
func (s *search) proposed(was *Change) *candidate {
	h := s.state.host(was.Node)
	if h == nil || !s.allows(was.Action) {
		return nil
	}
	i := slices.IndexFunc(h.members, func(m member) bool { return m.pod.Name() == was.Pod })
	if i < 0 {
		return nil
	}
	if was.Action == MovePod {
		return s.proposedMove(h, i, was.To)
	}
	if !requests(h, i, was) {
		return nil
	}
	c := resize(*was, h, i)
	if c == nil || c.after[0].free < min(0, h.free) {
		return nil
	}
	if was.Action == RaiseLimit && !c.lessens(h, i) {
		return nil
	}
	if all := s.add(nil, h, i, c); len(all) == 1 {
		return all[0]
	}
	return nil
}

// proposedMove returns the move of a member to a host.
func (s *search) proposedMove(h *host, i int, name string) *candidate {
	to, v := s.state.host(name), s.evict(h, i)
	if to == nil || to == h || v.Refused != "" || s.state.feasibility == nil {
		return nil
	}
	c := move(h, i, h.without(i), to)
	c.notes, c.lost = v.Notes, v.LostSeconds
	return c
}

// requests reports whether a member requests, and is limited to, what it was before a change.
func requests(h *host, i int, was *Change) bool {
	request, limit := cgroup.CPU(h.object(i))
	if of := cgroup.ContainerOf(h.object(i), was.Container); of != nil {
		request, limit = of.Resources.Requests.Cpu(), of.Resources.Limits.Cpu()
	}
	same := func(now, before, then *resource.Quantity) bool {
		return then == nil || before == nil || now != nil && now.Cmp(*before) == 0
	}
	return same(request, was.WasRequest, was.Request) && same(limit, was.WasLimit, was.Limit)
}

// lessens works out what the limit of a member adds less with that of the change, and reports whether it held the member back.
func (c *candidate) lessens(h *host, i int) bool {
	m := h.members[i]
	for k := range m.pod.Limits {
		l := &m.pod.Limits[k]
		if m.exact == nil || l.MilliCPU == 0 || l.Stretch <= 1 || l.Container != "" && l.Container != c.change.Container {
			continue
		}
		c.less = m.exact.limited[l.Container] * (l.Stretch - min(l.Stretch, l.Under(c.change.Limit.MilliValue()))) / (l.Stretch - 1)
		c.after[0].members[i].less += c.less
		return c.less >= observed.WorthAtLeast
	}
	return false
}
