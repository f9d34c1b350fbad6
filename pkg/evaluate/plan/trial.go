package plan

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/observed"
)

// Trial is what one change would do, whether it is worth it or not.
type Trial struct {
	// Now is the dilation of the pod that changes, and Then what becomes of it.
	Now, Then float64
	// Win is what the change takes from the excess of all pods, below 0 where it adds to it.
	Win float64
	// Pods are those of which the dilation changes, the pod itself among them, those that win most first.
	Pods []Effect
	// Refused says why the change cannot be made, "" where it can, and Unknown what is not known of what it does.
	Refused, Unknown string
	// Notes say what else follows, each a sentence without its end.
	Notes []string
}

// Try returns what a change of a pod would do, by how the pods of the nodes that it concerns were observed to fare, as for the steps of a plan.
// The change may be any: it need not help. The error says that the pod or the node was not observed, or that the model has no answer. The
// cluster is changed: its models are solved as far as that takes.
func Try(c *observed.Cluster, change Change, o *Options) (*Trial, error) {
	concerned := &observed.Cluster{}
	for _, n := range c.Nodes {
		if n.Name != change.Node && n.Name != change.To || n.Problem != "" {
			continue
		}
		if _, err := n.Predict(); err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		concerned.Nodes = append(concerned.Nodes, n)
	}
	s, err := newSearch(concerned, o)
	if err != nil {
		return nil, err
	}
	h := s.state.host(change.Node)
	if h == nil {
		return nil, fmt.Errorf("node %s was not observed", change.Node)
	}
	i := slices.IndexFunc(h.members, func(m member) bool { return m.pod.Name() == change.Pod })
	if i < 0 {
		return nil, fmt.Errorf("pod %s was not observed on node %s, or uses next to nothing", change.Pod, change.Node)
	}
	t := &Trial{}
	tried, err := s.tried(t, h, i, &change)
	if err != nil {
		return nil, err
	}
	if err := tried.solve(); err != nil {
		return nil, err
	}
	t.Win, t.Pods = tried.win, tried.effects()
	tried.each(func(f *fate) {
		if f.subject == tried.who {
			t.Now, t.Then = f.before, f.after
		}
	})
	return t, nil
}

// tried returns the candidate of a change of a member of a host, and says in the trial what stands against it.
func (s *search) tried(t *Trial, h *host, i int, change *Change) (*candidate, error) {
	if change.Action == MovePod {
		return s.triedMove(t, h, i, change.To)
	}
	c := resize(*change, h, i)
	if c == nil {
		return nil, fmt.Errorf("pod %s cannot have a request of %s and a limit of %s", change.Pod, change.Request, change.Limit)
	}
	if change.Limit != nil {
		t.Unknown = c.holds(h, i)
	}
	if c.after[0].free < min(0, h.free) {
		t.Refused = fmt.Sprintf("node %s has not as much CPU left that is not requested", h.node.Name)
	}
	if from, to := c.objects(); s.state.admission != nil && t.Refused == "" {
		t.Refused = s.state.admission.Refuses(from, to)
	}
	return c, nil
}

// triedMove is tried for a move.
func (s *search) triedMove(t *Trial, h *host, i int, name string) (*candidate, error) {
	to := s.state.host(name)
	if to == nil || to == h {
		return nil, fmt.Errorf("node %s was not observed, or is the one that the pod is on", name)
	}
	c := move(h, i, h.without(i), to)
	if v := s.evict(h, i); v.Refused != "" {
		t.Refused = v.Refused
	} else {
		t.Notes = v.Notes
	}
	if s.state.feasibility != nil && t.Refused == "" {
		fit := s.state.feasibility.Of(h.object(i))(name)
		t.Refused, t.Unknown = fit.Refused, fit.Unknown
	}
	return c, nil
}

// holds works out what the limit of a change adds less, or more, to the dilation of a member than that of now, and says what of it is not
// known.
func (c *candidate) holds(h *host, i int) (unknown string) {
	m := h.members[i]
	for k := range m.pod.Limits {
		l := &m.pod.Limits[k]
		if m.exact == nil || l.MilliCPU == 0 || l.Stretch <= 1 || l.Container != "" && l.Container != c.change.Container {
			continue
		}
		then := 1.0 // without a limit
		if !c.change.Limit.IsZero() {
			then = l.Under(c.change.Limit.MilliValue())
		}
		c.less = m.exact.limited[l.Container] * (l.Stretch - then) / (l.Stretch - 1)
		c.after[0].members[i].less += c.less
		return ""
	}
	_, limit := cgroup.CPU(h.object(i))
	if c.change.Limit.IsZero() || limit != nil && c.change.Limit.Cmp(*limit) >= 0 {
		return ""
	}
	return "how much a limit would hold it back that is lower than any it was observed with"
}
