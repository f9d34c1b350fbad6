package plan

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/observed"
)

const (
	// maxSlow is for how many pods of a node, those with the largest excess, changes are tried at a time, maxCulprits for how many of the
	// neighbours that they wait for most, and maxTried for how many of a node's pods at all.
	maxSlow, maxCulprits, maxTried = 3, 3, 20
	// maxTargets is the number of nodes, the cheapest by their prices, to which a move is predicted, and maxAsked how many are asked for
	// whether they take the pod.
	maxTargets, maxAsked = 3, 64
	// few is the number of nodes of a cluster in which a move to any is predicted.
	few = 8
)

// search looks for the changes that win most.
type search struct {
	*Options

	state   *state
	steps   []*candidate
	banned  map[key]bool
	unknown map[*subject]string
	// best are the best changes for the nodes as they are, nil for one for which there is none. Of those that are stale the node to which a
	// pod would move has changed since: they win about as much as then at most, since there is less room, and are looked for again before
	// one is made.
	best  map[string]*candidate
	stale map[string]bool
	// cut says whether the plan has no room for changes that help, of those that were looked for last.
	cut bool
	// hosts are those that searches share, by what runs there: how their members fare is worked out once.
	hosts map[string]*host

	// first is the state before any step, and bestFirst what was the best there.
	first     *state
	bestFirst map[string]*candidate
}

// newSearch returns a search of a cluster.
func newSearch(c *observed.Cluster, o *Options) (*search, error) {
	options := *o
	options.Above = cmp.Or(o.Above, observed.DefaultAbove)
	s := &search{
		Options: &options, state: newState(map[string]*host{}, o.Feasibility, o.Admission), banned: map[key]bool{}, unknown: map[*subject]string{},
		best: map[string]*candidate{}, stale: map[string]bool{}, hosts: map[string]*host{},
	}
	for _, n := range c.Nodes {
		if n.Problem != "" {
			continue
		}
		subjects := map[*observed.Pod]*subject{}
		for _, p := range n.Pods {
			subjects[p] = newSubject(p, &options)
		}
		h := newHost(n, subjects)
		if n.Prediction != nil {
			if err := h.solve(); err != nil {
				return nil, fmt.Errorf("node %s: %w", n.Name, err)
			}
		}
		s.state.unchanged[n.Name] = h
	}
	return s, nil
}

// ban takes changes out of what is tried, and begins again.
func (s *search) ban(changes []*Change) {
	for _, c := range changes {
		s.banned[c.key()] = true
	}
	s.state, s.steps, s.best, s.stale = s.first.clone(), nil, map[string]*candidate{}, map[string]bool{}
}

// run looks for the steps.
func (s *search) run() {
	s.first = s.state.clone()
	s.next()
	s.bestFirst = maps.Clone(s.best)
	s.begin()
	s.greedy()
	s.improve()
	if !s.first.hasFewNodes() {
		return
	}
	for _, name := range s.first.names() {
		if other := s.beginningWithSet(name); other != nil && other.state.worth() < s.state.worth()-effort {
			*s = *other
		}
	}
}

// beginningWithSet returns the search that begins with the best set of changes for a host; nil if there is none. What is best together may begin
// with less than the best single change.
func (s *search) beginningWithSet(host string) *search {
	h := s.first.host(host)
	if h.excess() <= h.idle {
		return nil
	}
	other := s.anew()
	set := other.bestSet(h, together)
	if set == nil || !other.room(set) {
		return nil
	}
	other.take(set)
	other.greedy()
	other.improve()
	return other
}

// improve exchanges steps as long as that wins more.
func (s *search) improve() {
	for len(s.steps) <= exchanged {
		other := s.exchange()
		if other == nil {
			return
		}
		*s = *other
	}
}

// anew returns the search before any step.
func (s *search) anew() *search {
	other := *s
	other.state, other.steps, other.best, other.stale, other.banned = s.first.clone(), nil, maps.Clone(s.bestFirst), map[string]bool{}, maps.Clone(s.banned)
	return &other
}

// exchanged is the largest number of steps that are exchanged for others: it takes as many searches as there are steps.
const exchanged = 10

// exchange returns the search in which one step is not made and the best others are in its place, where that is worth more; nil if
// there is none. The last steps come first: they had the least choice.
func (s *search) exchange() *search {
	left := s.state.worth()
	for i := range slices.Backward(s.steps) {
		other := s.without(i)
		if other == nil {
			continue
		}
		other.greedy()
		if other.state.worth() < left-noticed {
			other.banned = s.banned
			return other
		}
	}
	return nil
}

// without returns the search in which one step is not made, nor any more, and all others are; nil where one of these cannot be made then,
// or does not help.
func (s *search) without(step int) *search {
	other := s.anew()
	other.banned[s.steps[step].change.key()] = true
	for name, best := range other.best {
		if best != nil && other.banned[best.change.key()] {
			delete(other.best, name)
		}
	}
	from, to := s.setOf(step)
	for i, c := range s.steps {
		if from <= i && i <= to { // all of a set, or none
			continue
		}
		again := other.state.again(c)
		if again == nil || !other.state.fits(again) {
			return nil
		}
		for k, h := range again.after {
			again.after[k] = other.shared(h)
		}
		if again.solve() != nil || !c.enables && !again.wins() {
			return nil
		}
		other.take(again)
	}
	return other
}

// shared returns a host on which the same runs, with the same resources: this one where there is no other.
func (s *search) shared(h *host) *host {
	key := h.key()
	if s.hosts[key] == nil {
		s.hosts[key] = h
	}
	return s.hosts[key]
}

// setOf returns the first and the last of the steps that help together with one only.
func (s *search) setOf(step int) (from, to int) {
	from, to = step, step
	for from > 0 && s.steps[from-1].enables {
		from--
	}
	for s.steps[to].enables {
		to++
	}
	return from, to
}

// greedy makes the change that wins most as long as there is one.
func (s *search) greedy() {
	for s.Max == 0 || len(s.steps) < s.Max {
		c := s.next()
		if c == nil {
			return
		}
		if c.rough && (c.solve() != nil || !c.wins()) { // the estimate was wrong
			s.banned[c.change.key()] = true
			delete(s.best, c.before[0].node.Name)
			continue
		}
		if !s.state.admits(c) { // since an earlier step, which took the rest of a quota
			maps.DeleteFunc(s.best, func(_ string, best *candidate) bool { return best == c })
			continue
		}
		s.take(c)
	}
}

// take makes a change, or each of those that it stands for.
func (s *search) take(c *candidate) {
	for _, step := range c.steps {
		s.take(step)
	}
	if len(c.steps) > 0 {
		return
	}
	s.steps = append(s.steps, c)
	s.state.apply(c)
	touched := func(h *host) bool {
		return slices.ContainsFunc(c.before, func(other *host) bool { return other.node == h.node })
	}
	for name, best := range s.best {
		switch {
		case touched(s.state.host(name)):
			delete(s.best, name)
			delete(s.stale, name)
		case best != nil && slices.ContainsFunc(best.before, touched):
			s.stale[name] = true
		}
	}
}

// next returns the change that wins most, nil if none does. What a change wins has a bound: the excess of the node from which it takes it, or
// what the best one won before the node changed to which it moves a pod. Nodes are looked at in the order of these, as long as they
// may be better.
func (s *search) next() (best *candidate) {
	type open struct {
		*host
		most float64
	}
	var hosts []open
	consider := func(c *candidate) {
		switch {
		case c == nil:
		case !s.room(c):
			s.cut = true
		case best == nil || c.worth > best.worth || c.worth == best.worth && c.change.Node < best.change.Node:
			best = c
		}
	}
	s.cut = false
	for h := range s.state.hosts() {
		if h.excess()-h.idle < observed.WorthAtLeast {
			continue
		}
		switch c, known := s.best[h.node.Name]; {
		case !known:
			hosts = append(hosts, open{h, h.worth()})
		case s.stale[h.node.Name]:
			hosts = append(hosts, open{h, c.worth})
		default:
			consider(c)
		}
	}
	slices.SortFunc(hosts, func(a, b open) int {
		return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.node.Name, b.node.Name))
	})
	for _, h := range hosts {
		if best != nil && h.most <= best.worth {
			break
		}
		c := s.bestFor(h.host)
		s.best[h.node.Name] = c
		delete(s.stale, h.node.Name)
		consider(c)
	}
	return best
}

// bestFor returns the change that wins most of those that help the worst pods of a host, or else the next ones.
func (s *search) bestFor(h *host) (best *candidate) {
	slow := h.slow()
	for _, i := range slow[min(len(slow), maxTried):] {
		s.unknown[h.members[i].subject] = fmt.Sprintf("%d pods of its node are slowed down more: see what helps them first", maxTried)
	}
	for some := range slices.Chunk(slow[:min(len(slow), maxTried)], maxSlow) {
		if best = s.bestOf(s.candidates(h, some)); best != nil {
			return best
		}
	}
	return s.bestSet(h, paired)
}

// room reports whether the plan may have all steps of a change more.
func (s *search) room(c *candidate) bool {
	return s.Max == 0 || len(s.steps)+max(1, len(c.steps)) <= s.Max
}

// bestOf returns the change that wins most of some that help. Moves come last, those first that may win most, and only as long as they may
// win more than the best so far.
func (s *search) bestOf(candidates []*candidate) (best *candidate) {
	some := slices.DeleteFunc(candidates, func(c *candidate) bool { return s.banned[c.change.key()] })
	single := func(c *candidate) bool { return c.change.Action == MovePod && len(c.steps) == 0 }
	moves := slices.DeleteFunc(slices.Clone(some), func(c *candidate) bool { return !single(c) })
	some = slices.DeleteFunc(some, single)
	for _, c := range answered(some, (*candidate).weigh) {
		best = s.better(best, c)
	}
	moves = answered(moves, (*candidate).limit)
	slices.SortStableFunc(moves, func(a, b *candidate) int { return cmp.Compare(b.most, a.most) })
	for next := range slices.Chunk(moves, atOnce) {
		if best != nil && next[0].most <= best.worth {
			break
		}
		for _, c := range answered(next, (*candidate).weigh) {
			best = s.better(best, c)
		}
	}
	return best
}

// atOnce is how many moves are worked out at a time. It does not depend on the machine, so that neither does the plan.
const atOnce = 4

// better returns which of two changes wins more, given the best one so far, nil for none. Of one of which it is not known whether it can be
// made, that is noted.
func (s *search) better(best, c *candidate) *candidate {
	switch {
	case !c.wins():
	case c.unknown != "":
		c.each(func(f *fate) {
			if f.relieved() > 0 {
				s.unknown[f.subject] = cmp.Or(s.unknown[f.subject], fmt.Sprintf("whether %s may move to %s: %s", c.change.Pod, c.change.To, c.unknown))
			}
		})
	case best == nil || c.worth > best.worth+rounding:
		return c
	}
	return best
}

// answered returns those candidates for which the model has an answer, several worked out at a time.
func answered(candidates []*candidate, work func(*candidate) error) (some []*candidate) {
	errs := make([]error, len(candidates))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range candidates {
		group.Go(func() error {
			errs[i] = work(c)
			return nil
		})
	}
	_ = group.Wait() // no error
	for i, c := range candidates {
		if errs[i] == nil {
			some = append(some, c)
		}
	}
	return some
}

// wins reports whether the change wins what is worth a change, and helps.
func (c *candidate) wins() bool {
	return c.win >= observed.WorthAtLeast && c.worth > rounding && c.helps()
}

// rounding is the smallest difference of what changes are worth.
const rounding = 1e-9

// candidates returns the changes that are tried for some pods of a host, the simplest first.
func (s *search) candidates(h *host, slow []int) (all []*candidate) {
	culprits := h.culprits(slow)
	for _, i := range slow {
		if s.allows(RaiseLimit) {
			all = s.add(all, h, i, raiseLimits(h, i)...)
		}
		if s.allows(RaiseRequest) {
			all = s.add(all, h, i, raiseRequest(h, i))
		}
	}
	for _, i := range culprits {
		if s.allows(LowerRequest) {
			all = s.add(all, h, i, lowerRequest(h, i))
		}
	}
	if !s.allows(MovePod) || s.state.feasibility == nil {
		return all
	}
	for _, i := range slices.Concat(slow, culprits) {
		v := s.evict(h, i)
		if v.Refused != "" {
			continue
		}
		for _, c := range s.moves(h, i) {
			c.notes, c.lost = v.Notes, v.LostSeconds
			all = append(all, c)
		}
	}
	return all
}

// add adds changes of the request or the limit of a member that may be made.
func (s *search) add(all []*candidate, h *host, i int, some ...*candidate) []*candidate {
	if h.members[i].moved {
		return all
	}
	for _, c := range some {
		if c == nil || !s.permits(h.object(i), c.change.Action) || !s.state.admits(c) {
			continue
		}
		if s.Rules != nil {
			v := s.Rules.Resize(h.object(i), []disruption.ContainerCPU{c.change.CPU()})
			if v.Refused != "" && s.InPlace {
				continue
			}
			c.notes, c.lost, c.notInPlace = v.Notes, v.LostSeconds, v.Refused
		}
		all = append(all, c)
	}
	return all
}

// evict says whether a member may move, and what is lost by that.
func (s *search) evict(h *host, i int) disruption.Verdict {
	pod, m := h.object(i), &h.members[i]
	switch {
	case m.moved || m.resized:
		return disruption.Verdict{Refused: "an earlier change concerns it"}
	case !s.permits(pod, MovePod):
		return disruption.Verdict{Refused: "it is none of those that may change"}
	case s.Rules != nil:
		return s.Rules.Evict(pod)
	case metav1.GetControllerOfNoCopy(pod) == nil:
		return disruption.Verdict{Refused: "nothing would make it anew: it has no controller"}
	default:
		return disruption.Verdict{}
	}
}

// permits reports whether a change of a kind may be made of a pod.
func (s *search) permits(pod *corev1.Pod, a Action) bool {
	return s.Permits == nil || s.Permits(pod, a)
}

// slow returns the members that are slowed down, those with the largest excess first.
func (h *host) slow() (some []int) {
	for i := range h.members {
		if m := h.members[i]; m.sure && m.excess(h.exact.dilations[i]) > 0 {
			some = append(some, i)
		}
	}
	slices.SortStableFunc(some, func(a, b int) int {
		return cmp.Compare(h.members[b].excess(h.exact.dilations[b]), h.members[a].excess(h.exact.dilations[a]))
	})
	return some
}

// culprits returns the members for which some wait most, by the model, without those.
func (h *host) culprits(slow []int) (some []int) {
	adds := make([]float64, len(h.members))
	for _, i := range slow {
		for k, b := range h.prediction.BlameAt(i, 0) {
			if k < len(adds) && !slices.Contains(slow, k) {
				adds[k] += b * h.members[i].weight
			}
		}
	}
	for k := range adds {
		if adds[k] > 0 {
			some = append(some, k)
		}
	}
	slices.SortStableFunc(some, func(a, b int) int { return cmp.Compare(adds[b], adds[a]) })
	return some[:min(len(some), maxCulprits)]
}

// moves returns the moves of a member that are tried.
func (s *search) moves(h *host, i int) (all []*candidate) {
	most := maxTargets
	if s.state.hasFewNodes() {
		most = few
	}
	fit, left := s.state.feasibility.Of(h.object(i)), h.without(i)
	for _, to := range s.cheapest(h, i) {
		verdict := fit(to.node.Name)
		if verdict.Refused != "" {
			continue
		}
		c := move(h, i, left, to)
		c.unknown = verdict.Unknown
		if all = append(all, c); len(all) == most {
			break
		}
	}
	return all
}

// cheapest returns the other hosts on which a member would cost least by their prices, the cheapest first, no more than are asked.
func (s *search) cheapest(h *host, i int) []*host {
	type priced struct {
		*host
		cost float64
	}
	cheaper := func(a, b priced) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.node.Name, b.node.Name))
	}
	candidate := h.model.Candidate(h.model.Pods[i])
	some := make([]priced, 0, maxAsked+1)
	for other := range s.state.hosts() {
		if other == h {
			continue
		}
		p := priced{other, other.price(candidate)}
		if len(some) == maxAsked && cheaper(p, some[maxAsked-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(some, p, cheaper)
		some = slices.Insert(some, at, p)
		some = some[:min(len(some), maxAsked)]
	}
	hosts := make([]*host, len(some))
	for k := range some {
		hosts[k] = some[k].host
	}
	return hosts
}
