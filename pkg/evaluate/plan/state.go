package plan

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/node"
)

// state is a cluster after some changes: its nodes by their names, and what the scheduler would say of them.
type state struct {
	// unchanged are the nodes before any change, which all states share that come of each other, and changed those in whose place they are now.
	unchanged, changed map[string]*host
	feasibility        node.Feasibility
	admission          node.Admission
}

// newState returns the state of some hosts before any change.
func newState(hosts map[string]*host, feasibility node.Feasibility, admission node.Admission) *state {
	return &state{hosts, map[string]*host{}, feasibility, admission}
}

// clone returns a state that may be changed without this one. It takes time by the number of changes, not by that of nodes.
func (s *state) clone() *state {
	return &state{s.unchanged, maps.Clone(s.changed), s.feasibility, s.admission}
}

// host returns the node of a name, nil where there is none.
func (s *state) host(name string) *host {
	if h, is := s.changed[name]; is {
		return h
	}
	return s.unchanged[name]
}

// put has a host take the place of the one of its node.
func (s *state) put(h *host) { s.changed[h.node.Name] = h }

// hosts returns all nodes, in no order.
func (s *state) hosts() iter.Seq[*host] {
	return func(yield func(*host) bool) {
		for name := range s.unchanged {
			if !yield(s.host(name)) {
				return
			}
		}
	}
}

// hasFewNodes reports whether a move to any of the nodes is predicted.
func (s *state) hasFewNodes() bool { return len(s.unchanged) <= few }

// names returns the names of all nodes, in order.
func (s *state) names() []string { return slices.Sorted(maps.Keys(s.unchanged)) }

// excess returns that of all pods.
func (s *state) excess() float64 {
	return s.sum((*host).excess)
}

// worth returns what all pods count in the search: the less the better.
func (s *state) worth() float64 {
	return s.sum((*host).worth)
}

func (s *state) sum(of func(*host) float64) float64 {
	sum := 0.0
	for _, name := range s.names() { // in one order, for one result
		sum += of(s.host(name))
	}
	return sum
}

// fits reports whether a change can be made: the scheduler lets the pod move, or the API server admits what it requests and may use.
func (s *state) fits(c *candidate) bool {
	if c.change.Action != MovePod {
		return s.admits(c)
	}
	from := c.before[0]
	fit := s.feasibility.Of(from.object(from.index(c.who)))(c.change.To)
	return fit.Refused == "" && fit.Unknown == ""
}

// admits reports whether the API server admits what pods request and may use once a change is made, or each of those that it stands for.
func (s *state) admits(c *candidate) bool {
	if s.admission == nil {
		return true
	}
	next := s.admission
	for _, step := range c.single() {
		if step.change.Action == MovePod {
			continue
		}
		from, to := step.objects()
		if next.Refuses(from, to) != "" {
			return false
		}
		next = next.With(from, to)
	}
	return true
}

// host is a node after some changes. It does not change once it is solved.
type host struct {
	node  *observed.Node
	model *node.Node
	// original says that it is as it was observed.
	original bool
	members  []member // in the order of the model's pods
	// free is how much CPU its pods leave unrequested, in thousandths of a core, and busy how many processors run anything.
	free int64
	busy float64
	// idle is the excess of pods that use next to nothing, which no change helps.
	idle float64

	// exact and rough are how the pods fare by the model, and by estimates of it in a small part of the time; nil until they are asked for.
	working      sync.Mutex // on these
	exact, rough *outcome
	prediction   *contention.Prediction // of exact
	prices       *price.Prices
}

// outcome is how the pods of a host fare.
type outcome struct {
	// dilations are those of the members, excess is the sum of their excesses, and worth what they count in the search: the less the better.
	dilations     []float64
	excess, worth float64
}

// member is a pod of a host.
type member struct {
	*subject

	// less is what its limits add no more.
	less float64
	// moved and resized say what earlier changes did to it. A pod that has moved is another one, under another name: it changes no more,
	// and one that was resized does not move, since the other has the resources of its template.
	moved, resized bool
	// amounts are its CPU request and limit where it was resized, in words.
	amounts string
}

// newHost returns a node as it was observed.
func newHost(n *observed.Node, of map[*observed.Pod]*subject) *host {
	free := node.FreeCPU(n.Object, n.All)
	h := &host{node: n, original: true, members: make([]member, len(n.Model.Pods)), free: free.MilliValue(), busy: n.Running()}
	model := *n.Model
	model.Pods = slices.Clone(n.Model.Pods)
	for _, p := range n.Pods {
		s := of[p]
		if p.Index < 0 {
			h.idle += s.excess(p.Dilation)
			continue
		}
		s.home = h
		h.members[p.Index] = member{subject: s}
		model.Pods[p.Index].Bound = s.boundOn(model.Servers[0])
	}
	h.model = &model
	return h
}

// excess returns that of the host's pods, and worth what they count; of one that is not solved, which slows no pod down, what no change
// helps.
func (h *host) excess() float64 {
	if h.exact == nil {
		return h.idle
	}
	return h.exact.excess
}

func (h *host) worth() float64 {
	if h.exact == nil {
		return h.idle
	}
	return h.exact.worth
}

// solve works out how the pods fare by the model.
func (h *host) solve() (err error) {
	h.working.Lock()
	defer h.working.Unlock()
	if h.exact != nil {
		return nil
	}
	if err := h.atHome((*host).solve); err != nil {
		return err
	}
	if h.original {
		h.prediction, err = h.node.Predict()
	} else {
		h.prediction, err = h.model.Predict()
	}
	if err != nil {
		return err
	}
	h.exact, err = h.fare(func(i int) (float64, *breakdown, error) {
		m := &h.members[i]
		throttled := h.prediction.Throttling(i)
		waits, err := h.waits(i, throttled, h.prediction.Delay(i, 0))
		if err == nil && m.exact == nil {
			m.exact, err = m.explain(waits, throttled)
		}
		return waits, m.exact, err
	})
	return err
}

// estimate works out about how the pods fare.
func (h *host) estimate() (err error) {
	h.working.Lock()
	defer h.working.Unlock()
	if h.rough != nil {
		return nil
	}
	if err := h.atHome((*host).estimate); err != nil {
		return err
	}
	dilations := h.model.Estimate()
	h.rough, err = h.fare(func(i int) (float64, *breakdown, error) {
		m := &h.members[i]
		throttled, known := 1.0, m.rough
		if known == nil { // the host is its home
			known = m.exact
		}
		if known != nil {
			throttled = known.throttled
		}
		waits, err := h.waits(i, throttled, dilations[i]-1)
		if err == nil && m.rough == nil {
			m.rough, err = m.explain(waits, throttled)
		}
		return waits, m.rough, err
	})
	return err
}

// atHome works out how the members fare where they were observed: what their dilations come from is found out there.
func (h *host) atHome(work func(*host) error) error {
	for i := range h.members {
		if home := h.members[i].home; home != h {
			if err := work(home); err != nil {
				return err
			}
		}
	}
	return nil
}

// fare returns how the pods fare, given how long each waits and what its dilation as it was observed comes from.
func (h *host) fare(of func(i int) (waits float64, b *breakdown, err error)) (*outcome, error) {
	o := &outcome{make([]float64, len(h.members)), h.idle, h.idle}
	for i := range h.members {
		m := &h.members[i]
		waits, b, err := of(i)
		if err != nil {
			return nil, err
		}
		d := m.dilation(b, waits, m.less, h.busy)
		o.dilations[i] = d
		o.excess += m.excess(d)
		o.worth += m.worth(d)
	}
	return o, nil
}

// waits returns how long a member waits for a processor, in times of the pod alone, given by how much its limit makes longer what it takes
// alone, and for how much of that it waits for others. What it waits at disks does not change, so that the model's times keep their part of it.
func (h *host) waits(i int, throttled, delay float64) (float64, error) {
	itself, err := observed.WaitsForItself(h.model, i)
	return (itself + (1+itself)*throttled*delay) * h.members[i].pod.Longer(), err
}

// index returns where a pod is among the members, −1 if it is not.
func (h *host) index(s *subject) int {
	return slices.IndexFunc(h.members, func(m member) bool { return m.subject == s })
}

// object returns a member as it is now.
func (h *host) object(i int) *corev1.Pod { return h.model.Pods[i].Pod }

// without returns the host without one of its members.
func (h *host) without(i int) *host {
	other := &host{node: h.node, idle: h.idle}
	other.model = h.model.Without(i)
	other.members = slices.Delete(slices.Clone(h.members), i, i+1)
	other.free = h.free + cgroup.MilliCPU(h.object(i))
	other.busy = max(0, h.busy-h.members[i].runs())
	return other
}

// with returns the host with one more member, last.
func (h *host) with(pod node.Pod, m member) *host {
	other := &host{node: h.node, idle: h.idle}
	pod.Bound = m.boundOn(h.model.Servers[0])
	other.model = h.model.With(pod)
	m.moved = true
	other.members = append(slices.Clone(h.members), m)
	other.free = h.free - cgroup.MilliCPU(pod.Pod)
	other.busy = h.busy + m.runs()
	return other
}

// changed returns the host on which a member has another request or limit.
func (h *host) changed(i int, model *node.Node) *host {
	other := &host{node: h.node, idle: h.idle, model: model, busy: h.busy}
	other.members = slices.Clone(h.members)
	request, limit := cgroup.CPU(model.Pods[i].Pod)
	other.members[i].resized, other.members[i].amounts = true, fmt.Sprint(request, "/", limit)
	other.free = h.free + cgroup.MilliCPU(h.object(i)) - cgroup.MilliCPU(model.Pods[i].Pod)
	return other
}

// price returns what a candidate would cost on the host.
func (h *host) price(candidate *price.Candidate) float64 {
	if h.prices == nil {
		h.prices = h.model.Prices()
	}
	return node.Cost(h.prices, candidate)
}
