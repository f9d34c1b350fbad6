package plan

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/text"
)

const (
	// weighed is the number of nodes to which a move is predicted of those that fit, the cheapest by their prices, and denied how many
	// are predicted at all where pods would be dilated too much. In a cluster of few nodes all are.
	weighed, denied = 2, 16
	// corrected is how often the pods of a node are placed anew where an estimate was too low.
	corrected = 8
	// enough is the number of pods that are placed after which no other order is tried.
	enough = 1000
)

// packing is a consolidation while it is made: nodes are emptied one after the other.
//
// # Which node takes a pod
//
// A pod goes to one of the nodes that stay anyway: those that cannot be emptied, and those that have taken a pod before, which moves no
// second time. Of these it is where it adds least to what pods wait; on a second attempt on the fullest. Only if none of them takes it,
// one that might have been emptied does, the last of the order.
//
// That packs pods more densely than the number of emptied nodes needs. So once that number is known the same nodes are emptied again, now
// with all others to choose from, and the better result stays. Where a node is kept, it is tried first in another run, as long as few
// pods were placed.
//
// # What it costs
//
// With n nodes and p pods that move, each run asks for the prices of all nodes for each pod, asks the filters of those that come first
// until enough fit, and estimates how the pods of these fare with it: O(p·n) prices and at most as many questions, each of a microsecond,
// and O(p) estimates, each of about a millisecond. A pod that no node takes costs a question to each. The last run also solves the model
// of each node as it was, and of those that took pods, once for each emptied node: O(n) solutions. There are three runs, or more as
// long as [enough] pods were not placed.
type packing struct {
	*emptying

	by      care
	state   *state
	emptied []EmptiedNode
	kept    map[string]*KeptNode
	moves   int
	roles   map[string]role // staying where there is none
	// took names for each node one from which it took pods.
	took map[string]string
	// waits is by how much all pods are dilated in the end, weighted, and placed how many pods were placed.
	waits  float64
	placed int
}

// role is what becomes of a node.
type role int

const (
	staying role = iota // it takes pods
	pending             // it may be emptied, and takes pods only if those that stay do not
	leaving             // it is to be emptied, and takes no pod unless that fails
	empty               // it was emptied
)

// best returns the best of some runs: what estimates say is best is verified by the model.
func (e *emptying) best() *packing {
	order := e.sources
	best := e.run(order, nil, draft)
	for improved := true; improved; {
		improved = false
		for _, src := range e.sources {
			if e.tried+best.placed > enough || best.kept[src.node.Name] == nil {
				continue
			}
			others := slices.DeleteFunc(slices.Clone(order), func(other *source) bool { return other == src })
			first := slices.Insert(others, 0, src)
			if other := e.run(first, nil, draft); len(other.emptied) > len(best.emptied) {
				best, order, improved = other, first, true
			}
		}
	}
	chosen := map[string]bool{}
	for i := range best.emptied {
		chosen[best.emptied[i].Node] = true
	}
	if spread := e.run(order, chosen, draft); !spread.betterThan(best) {
		chosen = nil
	}
	return e.run(order, chosen, verified)
}

// betterThan reports whether more nodes are empty, or as many with less waiting.
func (p *packing) betterThan(other *packing) bool {
	if a, b := len(p.emptied), len(other.emptied); a != b {
		return a > b
	}
	return p.waits < other.waits-rounding
}

// care is how far a run goes by the model.
type care int

const (
	draft    care = iota // by estimates of it where nodes are large
	verified             // the nodes that take pods are solved once these are placed
)

// run empties nodes in an order: first those that are chosen, with all others as targets, then the rest.
func (e *emptying) run(order []*source, chosen map[string]bool, by care) *packing {
	p := &packing{
		emptying: e, by: by, state: e.first.clone(), kept: maps.Clone(e.kept), roles: map[string]role{}, took: map[string]string{},
	}
	before := e.tried
	for _, src := range order {
		switch {
		case len(chosen) == 0:
			p.roles[src.node.Name] = pending
		case chosen[src.node.Name]:
			p.roles[src.node.Name] = leaving
		}
	}
	for _, first := range []bool{true, false} {
		for _, src := range order {
			if (len(chosen) == 0 || chosen[src.node.Name]) == first {
				p.clear(src, order)
			}
		}
	}
	p.waits, p.placed = p.state.waitsOfAll(), e.tried-before
	return p
}

// clear empties a node if that can be done.
func (p *packing) clear(src *source, order []*source) {
	name := src.node.Name
	p.roles[name] = staying
	keep := func(k *KeptNode) {
		k.Node = name
		p.kept[name] = k
	}
	if from := p.took[name]; from != "" {
		keep(&KeptNode{Why: "it takes pods of " + from})
		return
	}
	if p.Max > 0 && p.moves+len(src.parcels) > p.Max {
		keep(&KeptNode{Why: fmt.Sprintf("it takes %s, more than are left of %s", text.Counted(len(src.parcels), "move"), text.Count(int64(p.Max)))})
		return
	}
	if err := src.solve(); err != nil {
		keep(&KeptNode{Why: "the model has no answer for it: " + err.Error()})
		return
	}
	var why *KeptNode
	for _, prefer := range []preference{leastAdded, fullest} {
		a := &attempt{packing: p, src: src, prefer: prefer, order: order, barred: map[way]*breach{}}
		if why = a.run(); why == nil {
			a.commit()
			return
		}
	}
	keep(why)
}

// preference is which of the nodes that take a pod gets it.
type preference int

const (
	leastAdded preference = iota // that where it adds least to what pods wait
	fullest                      // that which has the least CPU unrequested
)

// way is the move of a pod to a node.
type way struct {
	parcel *parcel
	to     string
}

// attempt is the attempt to empty a node.
type attempt struct {
	*packing

	src    *source
	prefer preference
	order  []*source
	// barred are moves that an estimate had taken for possible.
	barred map[way]*breach

	after *state
	ways  []way
}

// run places all pods, and returns why that cannot be done, nil where it can.
func (a *attempt) run() *KeptNode {
	for range corrected {
		if why := a.place(); why != nil {
			return why
		}
		if a.by == draft {
			return nil
		}
		wrong, err := a.verify()
		switch {
		case err != nil:
			return &KeptNode{Why: "the model has no answer for it once it is empty: " + err.Error()}
		case len(wrong) == 0:
			return nil
		}
		maps.Copy(a.barred, wrong)
	}
	return &KeptNode{Why: "no places were found for all of its pods together"}
}

// place finds a node for each pod.
func (a *attempt) place() *KeptNode {
	a.after, a.ways = a.state.clone(), nil
	a.after.put(a.src.emptied())
	for _, parcel := range a.src.parcels {
		a.tried++
		q := &question{attempt: a, parcel: parcel}
		to := q.answer()
		if to == nil {
			return &KeptNode{Pod: text.QualifiedName(parcel.object), Why: "no other node takes it", Refusals: q.refusals()}
		}
		name := to.node.Name
		a.after.put(to)
		a.after.feasibility = a.after.feasibility.With(parcel.on(name), name)
		a.ways = append(a.ways, way{parcel, name})
	}
	return nil
}

// emptied returns the host without the pods that have to leave it.
func (s *source) emptied() *host {
	h := s.host
	for _, p := range s.parcels {
		if p.index < 0 {
			h = h.reserving(-p.request())
			continue
		}
		h = h.without(h.index(s.members[p.index].subject))
	}
	return h
}

// on returns the pod on another node.
func (p *parcel) on(name string) *corev1.Pod {
	moved := *p.object
	moved.Spec.NodeName = name
	return &moved
}

// reserving returns the host with a pod more that uses next to nothing but requests CPU, in thousandths of a core, or less if that is
// below 0.
func (h *host) reserving(milliCPU int64) *host {
	return &host{
		node: h.node, model: h.model, original: h.original, members: h.members, free: h.free - milliCPU, busy: h.busy, idle: h.idle,
		exact: h.exact, rough: h.rough, prediction: h.prediction, prices: h.prices,
	}
}

// taking returns a host with a pod of the node that is emptied.
func (a *attempt) taking(p *parcel, to *host) *host {
	if p.index < 0 {
		return to.reserving(p.request())
	}
	pod := a.src.model.Pods[p.index]
	pod.Pod = p.on(to.node.Name)
	return to.with(pod, a.src.members[p.index])
}

// touched returns the names of the nodes that took pods.
func (a *attempt) touched() []string {
	names := map[string]bool{}
	for _, w := range a.ways {
		names[w.to] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// verify solves the nodes that took pods by the model, and returns the last pod of each on which one is dilated too much after all. The
// error is that of the node that is emptied.
func (a *attempt) verify() (map[way]*breach, error) {
	names := append(a.touched(), a.src.node.Name)
	errs := make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		group.Go(func() error {
			errs[i] = a.after.host(name).solve()
			return nil
		})
	}
	_ = group.Wait() // no error
	wrong := map[way]*breach{}
	for i, name := range names[:len(names)-1] {
		h := a.after.host(name)
		b := &breach{err: errs[i]}
		if errs[i] == nil {
			b = a.breachOf(h, h.exact)
		}
		if b == nil {
			continue
		}
		for _, w := range slices.Backward(a.ways) {
			if w.to == name && w.parcel.index >= 0 {
				wrong[w] = b
				break
			}
		}
	}
	return wrong, errs[len(names)-1]
}

// commit makes the moves.
func (a *attempt) commit() {
	p, before := a.packing, a.state
	gone := EmptiedNode{Node: a.src.node.Name, Moves: []Move{}}
	now, then := map[*subject]float64{}, map[*subject]float64{}
	for _, name := range append(a.touched(), gone.Node) {
		before.host(name).each(func(m *member, dilation float64) { now[m.subject] = dilation })
		a.after.host(name).each(func(m *member, dilation float64) { then[m.subject] = dilation })
		if name != gone.Node {
			p.took[name], p.roles[name] = cmp.Or(p.took[name], gone.Node), staying
		}
	}
	for who := range now {
		if e := (Effect{who.pod.Name(), now[who], then[who]}); e.Then-e.Now >= noticed || e.Now-e.Then >= noticed {
			gone.Pods = append(gone.Pods, e)
		}
	}
	slices.SortFunc(gone.Pods, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(b.Now-b.Then, a.Now-a.Then), cmp.Compare(a.Pod, b.Pod))
	})
	for _, w := range a.ways {
		pod, seen := w.parcel.object, w.parcel.seen
		m := Move{
			Change: Change{Action: MovePod, Pod: seen.Name(), Workload: workloads.Of(pod), Node: gone.Node, To: w.to},
			Now:    seen.Dilation, Then: seen.Dilation, Notes: w.parcel.notes, LostSeconds: w.parcel.lost,
		}
		if w.parcel.index >= 0 {
			m.Then = then[a.src.members[w.parcel.index].subject]
		}
		gone.Moves = append(gone.Moves, m)
	}
	p.state, p.moves, p.roles[gone.Node] = a.after, p.moves+len(a.ways), empty
	if p.by == verified {
		gone.Left, gone.Worst = p.state.excessOfAll(), p.worst(p.state)
	}
	p.emptied = append(p.emptied, gone)
}
