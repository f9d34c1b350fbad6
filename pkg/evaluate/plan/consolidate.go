package plan

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// Consolidation says which nodes can be emptied, and by which moves.
type Consolidation struct {
	// Above is the dilation that no pod exceeds because of the moves, if it did not before.
	Above float64 `json:"above"`
	// Excess is how far all pods together are above it now, weighted by their priorities, and Left how far once the nodes are empty.
	Excess float64 `json:"excess"`
	Left   float64 `json:"left"`
	// Worst is the pod that is dilated most now, nil where no pod was observed.
	Worst *Dilated `json:"worst,omitempty"`
	// Emptied are the nodes that can be emptied, one after the other, and Kept the others, by their names.
	Emptied []EmptiedNode `json:"emptied"`
	Kept    []KeptNode    `json:"kept"`
}

// Moves returns how many pods move.
func (c *Consolidation) Moves() int {
	n := 0
	for i := range c.Emptied {
		n += len(c.Emptied[i].Moves)
	}
	return n
}

// EmptiedNode is a node that can be emptied once those before it are.
type EmptiedNode struct {
	Node string `json:"node"`
	// Moves are those of its pods, in order; none where only pods of DaemonSets and static pods run there, which go with the node.
	Moves []Move `json:"moves"`
	// Pods are those of which the dilation changes, those that win most first.
	Pods []Effect `json:"pods,omitempty"`
	// Left is the excess of all pods then, and Worst the pod that is dilated most.
	Left  float64  `json:"left"`
	Worst *Dilated `json:"worst,omitempty"`
}

// Move is the move of a pod to another node.
type Move struct {
	Change

	// Now is its dilation before its node is emptied, and Then that after it.
	Now  float64 `json:"now"`
	Then float64 `json:"then"`
	// Notes and LostSeconds are as of a [Step].
	Notes       []string `json:"notes,omitempty"`
	LostSeconds float64  `json:"lostSeconds,omitempty"`
}

// Dilated is a pod and its dilation.
type Dilated struct {
	Pod      string  `json:"pod"`
	Dilation float64 `json:"dilation"`
}

// KeptNode is a node that is not emptied.
type KeptNode struct {
	Node string `json:"node"`
	// Pod is the first pod that stays there, "" where no pod is the reason.
	Pod string `json:"pod,omitempty"`
	// Why is a sentence without its end, and Refusals say for which reasons the other nodes do not take the pod, if that is why.
	Why      string    `json:"why"`
	Refusals []Refusal `json:"refusals,omitempty"`
}

// Consolidate returns which nodes can be emptied so that no pod is dilated more than Options.Above, or more than now where that is more,
// and none beyond a promise that is enforced. Pods of DaemonSets and static pods go with their node, and so does a pod that is being
// deleted; each other pod moves at most once, to a node that was observed, is not emptied itself, and fits by the scheduler's filters with
// all earlier moves made. A node is emptied wholly or not at all.
//
// A node whose gauge says nothing is neither emptied nor the target of a move, one of the control plane is not emptied, and one with a
// pod that its gauge has not seen for long enough is not emptied, since the load of that pod is not known: where it is, it counts as
// none.
//
// Of Options, Max bounds the moves, Empties says which nodes may be emptied and Permits which pods may move; Promise, Rules and Feasibility
// are as for a [Plan]. The others are not asked.
//
// Nodes are tried in order, those with the fewest pods first. A pod goes to a node that is to stay anyway, there where it adds least, and
// to one that might have been emptied only if none of those takes it, so that as few nodes as possible take pods. See the type packing for how,
// and for what it costs. The error is that of [Options.Check], or names the node for which the model has no answer.
func Consolidate(c *observed.Cluster, o *Options) (*Consolidation, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	s, err := newSearch(c, o)
	if err != nil {
		return nil, err
	}
	e := &emptying{search: s, first: s.state.clone(), nodes: c.Nodes}
	e.survey()
	best := e.best()
	answer := &Consolidation{
		Above: s.Above, Excess: e.first.excessOfAll(), Worst: e.worst(e.first), Emptied: append([]EmptiedNode{}, best.emptied...), Kept: []KeptNode{},
	}
	answer.Left = answer.Excess
	if n := len(best.emptied); n > 0 {
		answer.Left = best.emptied[n-1].Left
	}
	for _, name := range slices.Sorted(maps.Keys(best.kept)) {
		answer.Kept = append(answer.Kept, *best.kept[name])
	}
	return answer, nil
}

// emptying is what a consolidation is made of, and does not change while it is made.
type emptying struct {
	*search

	nodes []*observed.Node
	first *state
	// sources are the nodes that may be emptied, in the order in which that is tried, and kept those that may not.
	sources []*source
	kept    map[string]*KeptNode
	// still are the dilations of pods that use next to nothing, and worstStill is the one that is dilated most.
	worstStill *Dilated
	// tried counts the pods that were placed.
	tried int
}

// source is a node that may be emptied.
type source struct {
	*host

	parcels []*parcel
}

// parcel is a pod that has to leave its node.
type parcel struct {
	object *corev1.Pod
	seen   *observed.Pod
	index  int // among the members of its host, −1 for one that uses next to nothing
	notes  []string
	lost   float64
}

// request returns how much CPU the pod requests, in thousandths of a core.
func (p *parcel) request() int64 { return cgroup.MilliCPU(p.object) }

// runs returns how many processors the pod keeps busy.
func (p *parcel) runs() float64 {
	if p.seen.Seconds <= 0 {
		return 0
	}
	return p.seen.Times.Run / p.seen.Seconds
}

// controlPlane labels the nodes of the control plane.
const controlPlane = "node-role.kubernetes.io/control-plane"

// survey finds the nodes that may be emptied, and why others may not.
func (e *emptying) survey() {
	e.kept = map[string]*KeptNode{}
	for _, n := range e.nodes {
		if n.Object == nil || e.Empties != nil && !e.Empties(n.Name) {
			continue
		}
		if src, kept := e.source(n); kept != nil {
			kept.Node = n.Name
			e.kept[n.Name] = kept
		} else {
			e.sources = append(e.sources, src)
		}
	}
	for h := range e.first.hosts() {
		for _, p := range h.node.Pods {
			if p.Index < 0 {
				e.worstStill = worse(e.worstStill, p.Name(), p.Dilation)
			}
		}
	}
	lightest := func(a, b *source) int {
		return cmp.Or(cmp.Compare(len(a.parcels), len(b.parcels)), cmp.Compare(a.request(), b.request()), cmp.Compare(a.node.Name, b.node.Name))
	}
	slices.SortFunc(e.sources, lightest)
}

// request returns how much CPU the pods that have to leave request.
func (s *source) request() (milliCPU int64) {
	for _, p := range s.parcels {
		milliCPU += p.request()
	}
	return milliCPU
}

// source returns a node with the pods that have to leave it, the largest first, or why it is kept.
func (e *emptying) source(n *observed.Node) (*source, *KeptNode) {
	h := e.first.host(n.Name)
	if h == nil {
		return nil, &KeptNode{Why: "its state is not known: " + n.Problem}
	}
	if _, is := n.Object.Labels[controlPlane]; is {
		return nil, &KeptNode{Why: "it is a node of the control plane"}
	}
	src, seen := &source{host: h}, map[*corev1.Pod]*observed.Pod{}
	for _, p := range n.Pods {
		seen[p.Object] = p
	}
	for _, pod := range n.All {
		if node.Stays(pod) != "" || pod.DeletionTimestamp != nil {
			continue
		}
		p := &parcel{object: pod, seen: seen[pod], index: -1}
		if why := e.stays(p); why != "" {
			return nil, &KeptNode{Pod: text.QualifiedName(pod), Why: why}
		}
		if p.seen.Index >= 0 {
			p.index = slices.IndexFunc(h.members, func(m member) bool { return m.pod == p.seen })
		}
		src.parcels = append(src.parcels, p)
	}
	slices.SortStableFunc(src.parcels, func(a, b *parcel) int {
		return cmp.Or(cmp.Compare(b.request(), a.request()), cmp.Compare(b.runs(), a.runs()), cmp.Compare(text.QualifiedName(a.object), text.QualifiedName(b.object)))
	})
	return src, nil
}

// stays says why a pod may not leave its node, "" where it may; then it notes what that costs.
func (e *emptying) stays(p *parcel) string {
	switch {
	case !e.permits(p.object, MovePod):
		return "it is none of those that may move"
	case p.seen == nil:
		return "its load is not known: the gauge of its node has not seen it"
	case p.seen.Short():
		return "its load is not known: the gauge of its node has seen it for too short a time"
	case e.state.feasibility == nil:
		return "where it may run is not known"
	case e.Rules != nil:
		v := e.Rules.Evict(p.object)
		p.notes, p.lost = v.Notes, v.LostSeconds
		return v.Refused
	case metav1.GetControllerOfNoCopy(p.object) == nil:
		return "nothing would make it anew: it has no controller"
	default:
		return ""
	}
}

// excessOfAll returns the excess of all pods, also of those on nodes that are not solved.
func (s *state) excessOfAll() float64 {
	return s.sum(func(h *host) float64 {
		sum := h.idle
		h.each(func(m *member, dilation float64) { sum += m.excess(dilation) })
		return sum
	})
}

// waitsOfAll returns by how much all pods together are dilated, weighted.
func (s *state) waitsOfAll() float64 {
	return s.sum(func(h *host) float64 {
		sum := 0.0
		h.each(func(m *member, dilation float64) { sum += m.weight * (dilation - 1) })
		return sum
	})
}

// worst returns the pod that is dilated most, nil where there is none.
func (e *emptying) worst(st *state) *Dilated {
	worst := e.worstStill
	for _, name := range st.names() {
		st.host(name).each(func(m *member, dilation float64) { worst = worse(worst, m.pod.Name(), dilation) })
	}
	return worst
}

// worse returns the pod that is dilated more, or of two alike the first by name.
func worse(than *Dilated, pod string, dilation float64) *Dilated {
	if than == nil || dilation > than.Dilation || dilation == than.Dilation && pod < than.Pod {
		return &Dilated{pod, dilation}
	}
	return than
}

// each calls a function for each member, with its dilation: by the model, else by estimates of it, and as it was observed where the host
// is as it was.
func (h *host) each(visit func(m *member, dilation float64)) {
	for i := range h.members {
		dilation := h.members[i].pod.Dilation
		switch {
		case h.exact != nil:
			dilation = h.exact.dilations[i]
		case h.rough != nil && !h.original:
			dilation = h.rough.dilations[i]
		}
		visit(&h.members[i], dilation)
	}
}
