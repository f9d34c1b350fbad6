package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/observed"
)

// Proof is what a change won that was made.
type Proof struct {
	// Unknown says what is missing to find that out, "" for nothing.
	Unknown string
	// Win is what it took from the excess, at the load of afterwards: what the plan predicted as the win of a step.
	Win Interval
	// Pods are those of the nodes that the change concerns, as far as they were observed since. Now is the dilation that each would have
	// without the change, and Then the one that it was observed to have. Those that won most come first.
	Pods []Effect
	// Margins are the half widths of the 95 % confidence intervals of Now − Then, by pod.
	Margins map[string]float64
}

// Prove returns what a change won, given the cluster as it was observed before and since, both solved, and the pod of the change as it is since,
// as namespace/name: for a move that is the one in place of the pod that was evicted.
//
// How pods fare since is observed. How they would fare without the change follows from how they were observed to fare before, and from the
// model of their nodes with the loads of since and the change undone: so neither a quieter hour nor pods that have come or gone count as
// a win. A pod that was not observed before fares without the change as the model has it.
//
// The interval is that of the observations, and of the model as far as it had to say what the load does.
func Prove(before, since *observed.Cluster, change *Change, now string, o *Options) (*Proof, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	options := *o
	options.Above = cmp.Or(o.Above, observed.DefaultAbove)
	w, err := newWorld(before, since, change, now, &options)
	if err != nil || w.unknown != "" {
		return &Proof{Unknown: w.unknown}, err
	}
	undone, err := w.undo(change)
	if err != nil || w.unknown != "" {
		return &Proof{Unknown: w.unknown}, err
	}
	return w.compare(undone, change)
}

// world is the nodes that a change concerns, before it and since.
type world struct {
	before, since *state
	// earlier are the pods of before by their names since.
	earlier map[string]*subject
	now     string
	// at and was are the nodes on which the pod is since, and was before.
	at, was string
	unknown string
}

func newWorld(before, since *observed.Cluster, change *Change, now string, o *Options) (*world, error) {
	w := &world{now: now, was: change.Node, earlier: map[string]*subject{}}
	for _, n := range since.Nodes {
		if slices.ContainsFunc(n.Pods, func(p *observed.Pod) bool { return p.Name() == now && !p.Short() }) {
			w.at = n.Name
		}
	}
	if w.at == "" {
		w.unknown = fmt.Sprintf("%s has not been observed for long enough", now)
		return w, nil
	}
	var err error
	if w.since, err = w.stateOf(since, o); err != nil || w.unknown != "" {
		return w, err
	}
	if w.before, err = w.stateOf(before, o); err != nil || w.unknown != "" {
		return w, err
	}
	for h := range w.before.hosts() {
		for i := range h.members {
			name := h.members[i].pod.Name()
			if name == change.Pod {
				name = now
			}
			w.earlier[name] = h.members[i].subject
		}
	}
	return w, nil
}

// stateOf returns the concerned nodes of a cluster, solved.
func (w *world) stateOf(c *observed.Cluster, o *Options) (*state, error) {
	some := &observed.Cluster{}
	for _, n := range c.Nodes {
		if n.Name != w.was && n.Name != w.at {
			continue
		}
		if n.Problem != "" {
			w.unknown = fmt.Sprintf("node %s: %s", n.Name, n.Problem)
			return nil, nil //nolint:nilnil // there is none, as unknown says
		}
		if _, err := n.Predict(); err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		some.Nodes = append(some.Nodes, n)
	}
	s, err := newSearch(some, o)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{w.was, w.at} {
		if s.state.host(name) == nil {
			w.unknown = fmt.Sprintf("node %s is not observed", name)
		}
	}
	return s.state, nil
}

// undo returns the hosts as they would be since without the change.
func (w *world) undo(change *Change) ([]*host, error) {
	h := w.since.host(w.at)
	i := slices.IndexFunc(h.members, func(m member) bool { return m.pod.Name() == w.now })
	hosts := []*host{h}
	switch {
	case i < 0: // it uses next to nothing now
		if w.was != w.at {
			hosts = append(hosts, w.since.host(w.was))
		}
	case change.Action == MovePod && w.was == w.at:
		w.unknown = fmt.Sprintf("%s runs where the pod did that it takes the place of", w.now)
	case change.Action == MovePod:
		hosts = move(h, i, h.without(i), w.since.host(w.was)).after
	default:
		back := *change
		back.Request, back.Limit = former(change.Request, change.WasRequest), former(change.Limit, change.WasLimit)
		c := resize(back, h, i)
		if c == nil {
			w.unknown = fmt.Sprintf("%s cannot have what it had before", w.now)
			return nil, nil
		}
		hosts = c.after
	}
	for _, h := range hosts {
		if err := h.solve(); err != nil {
			return nil, fmt.Errorf("node %s without the change: %w", h.node.Name, err)
		}
	}
	return hosts, nil
}

// former returns what an amount was before it was changed, nil where it was not changed.
func former(changed, was *resource.Quantity) *resource.Quantity {
	switch {
	case changed == nil:
		return nil
	case was == nil:
		return new(resource.Quantity)
	default:
		return was
	}
}

// compare returns what the change won, given the hosts as they would be without it.
func (w *world) compare(undone []*host, change *Change) (*Proof, error) {
	p := &Proof{Margins: map[string]float64{}}
	observation, model := 0.0, 0.0 // the variance by what was observed, and the part that the model has to say
	for _, h := range undone {
		for i := range h.members {
			m := &h.members[i]
			if m.pod.Short() {
				continue
			}
			name := m.pod.Name()
			waits, err := h.waits(i, h.prediction.Throttling(i), h.prediction.Delay(i, 0))
			if err != nil {
				return nil, fmt.Errorf("pod %s without the change: %w", name, err)
			}
			s, by, margin := m.subject, m.exact, m.pod.Margin()
			if earlier := w.earlier[name]; earlier != nil && !earlier.pod.Short() {
				s, by = earlier, earlier.exact
				margin = math.Hypot(margin, earlier.pod.Margin())
			}
			less := 0.0
			if name == w.now && change.Action == RaiseLimit && s != m.subject {
				less = s.quieter(m.pod.CPU)
			}
			without, with := s.dilation(by, waits, less, h.busy), m.pod.Dilation
			p.Pods = append(p.Pods, Effect{name, without, with})
			p.Margins[name] = math.Hypot(margin, normal*expectedSpread*(without-s.pod.Dilation))
			p.Win.Value += s.excess(without) - s.excess(with)
			if without > s.threshold || with > s.threshold {
				by := s.weight * margin / normal
				observation += by * by
				model += s.weight * (without - s.pod.Dilation)
			}
		}
	}
	half := normal * math.Hypot(math.Sqrt(observation), expectedSpread*model)
	p.Win.Low, p.Win.High = p.Win.Value-half, p.Win.Value+half
	slices.SortFunc(p.Pods, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(b.Now-b.Then, a.Now-a.Then), cmp.Compare(a.Pod, b.Pod))
	})
	return p, nil
}

// quieter returns by how much less its limits would add to the dilation of the pod if it computed for another part of its time.
func (s *subject) quieter(loading float64) (less float64) {
	if s.pod.CPU <= 0 || s.exact == nil {
		return 0
	}
	for k := range s.pod.Limits {
		if l := &s.pod.Limits[k]; l.MilliCPU > 0 {
			less += s.exact.limited[l.Container] * (1 - l.Scaled(loading/s.pod.CPU))
		}
	}
	return less
}
