package plan

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// Refusal is a reason for which nodes do not take a pod.
type Refusal struct {
	// Why is a sentence without its end, in the scheduler's words where its filters refuse the pod; of several nodes what they have in
	// common, or that of the nearest to taking it.
	Why string `json:"why"`
	// Nodes is how many refuse it for that reason, and Node is one of them.
	Nodes int    `json:"nodes"`
	Node  string `json:"node"`
}

// breach is that a pod would be dilated more than it may be.
type breach struct {
	pod             string
	dilation, bound float64
	of              limit
	err             error // the model has no answer
}

// limit is what bounds the dilation of a pod.
type limit int

const (
	byAbove   limit = iota // Options.Above
	byPromise              // of its profile
	byNow                  // its dilation now, since that is above those
)

// above returns how many times the bound the pod is dilated.
func (b *breach) above() float64 {
	if b.err != nil {
		return 0
	}
	return b.dilation / b.bound
}

func (b *breach) String() string {
	if b.err != nil {
		return "the model has no answer: " + b.err.Error()
	}
	bound, dilation := text.Apart(b.bound, b.dilation)
	words := map[limit]string{byAbove: "above %s×", byPromise: "beyond its promise of %s×", byNow: "even more than %s× now"}
	return fmt.Sprintf("%s would be dilated %s×, "+words[b.of], b.pod, dilation, bound)
}

// breachOf returns the pod of a host that is dilated most above what it may be, nil for none: Options.Above, and a promise that is
// enforced, or as much as now where that is more.
func (a *attempt) breachOf(h *host, o *outcome) (worst *breach) {
	for i := range h.members {
		m, d := &h.members[i], o.dilations[i]
		b := &breach{pod: m.pod.Name(), dilation: d, bound: a.Above}
		if promised := h.model.Pods[i].Bound.Enforced(); promised > 0 && promised < b.bound {
			b.bound, b.of = promised, byPromise
		}
		if now := m.pod.Dilation; now > b.bound {
			b.bound, b.of = now, byNow
		}
		if d > b.bound*(1+rounding) && (worst == nil || b.above() > worst.above()) {
			worst = b
		}
	}
	return worst
}

// question is which node takes a pod of a node that is emptied.
type question struct {
	*attempt

	parcel    *parcel
	fit       func(string) node.Fit
	candidate *price.Candidate // nil for one that uses next to nothing
	// refused are the reasons of the nodes by their names.
	refused map[string]string
	// breaches are those of the nodes on which a pod would be dilated too much.
	breaches map[string]*breach
}

// option is a node that may take the pod.
type option struct {
	*host

	cost  float64 // the less the better
	with  *host
	added float64 // to what pods wait
	wrong *breach
}

// answer returns the host that takes the pod, with it, nil where none does.
func (q *question) answer() *host {
	q.fit, q.refused, q.breaches = q.after.feasibility.Of(q.parcel.object), map[string]string{}, map[string]*breach{}
	if q.parcel.index >= 0 {
		q.candidate = q.src.model.Candidate(q.src.model.Pods[q.parcel.index])
	}
	var some []*option
	for h := range q.after.hosts() {
		if name := h.node.Name; name != q.src.node.Name && q.roles[name] == staying {
			some = append(some, q.option(h))
		}
	}
	slices.SortFunc(some, func(a, b *option) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.node.Name, b.node.Name))
	})
	h, rest := q.among(some, q.weighed())
	for _, last := range slices.Backward(q.order) {
		if name := last.node.Name; h == nil && q.roles[name] == pending {
			h, _ = q.among([]*option{q.option(q.after.host(name))}, 1)
		}
	}
	if h == nil {
		h, _ = q.among(rest, denied)
	}
	return h
}

// weighed is the number of nodes that are compared with each other.
func (q *question) weighed() int {
	if q.after.hasFewNodes() {
		return few
	}
	return weighed
}

// option returns a node that may take the pod, and what it costs there by the preference.
func (q *question) option(h *host) *option {
	if q.prefer == fullest || q.candidate == nil {
		return &option{host: h, cost: float64(h.free)}
	}
	return &option{host: h, cost: h.price(q.candidate)}
}

// among returns the best of some hosts, those first that come first, with the pod; nil where none takes it of a number to which the move
// is predicted. The rest are those that were not asked.
func (q *question) among(some []*option, most int) (with *host, rest []*option) {
	for tried := 0; tried < most && len(some) > 0; tried += q.weighed() {
		var next []*option
		for len(next) < q.weighed() && len(some) > 0 {
			if q.fits(some[0].node.Name) {
				next = append(next, some[0])
			}
			some = some[1:]
		}
		if best := q.bestOf(next); best != nil {
			return best.with, some
		}
	}
	return nil, some
}

// bestOf returns the best of some nodes that fit, nil where pods would be dilated too much on all.
func (q *question) bestOf(some []*option) (best *option) {
	q.weigh(some)
	for _, o := range some {
		switch {
		case o.wrong != nil:
			q.breaches[o.node.Name] = o.wrong
		case best == nil || q.prefer == leastAdded && o.added < best.added-rounding:
			best = o
		}
	}
	return best
}

// fits reports whether the scheduler lets the pod run on a node.
func (q *question) fits(name string) bool {
	if b := q.barred[way{q.parcel, name}]; b != nil {
		q.breaches[name] = b
		return false
	}
	switch fit := q.fit(name); {
	case fit.Refused != "":
		q.refused[name] = fit.Refused
	case fit.Unknown != "":
		q.refused[name] = "whether it may run there is not known: " + fit.Unknown
	default:
		return true
	}
	return false
}

// weigh works out how the pods of some nodes fare with the pod, several at a time: by the model where that is quick, else by estimates of
// it.
func (q *question) weigh(some []*option) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, o := range some {
		o.with = q.taking(q.parcel, o.host)
		if q.parcel.index < 0 {
			continue
		}
		group.Go(func() error {
			if err := q.predict(o); err != nil {
				o.wrong = &breach{err: err}
			}
			return nil
		})
	}
	_ = group.Wait() // no error
}

// predict works out how the pods of a node fare with the pod.
func (q *question) predict(o *option) error {
	work, of := (*host).solve, func(h *host) *outcome { return h.exact }
	if len(o.with.members) > small {
		work, of = (*host).estimate, func(h *host) *outcome { return h.rough }
	}
	for _, h := range []*host{o.host, o.with} {
		if err := work(h); err != nil {
			return err
		}
	}
	before, after := of(o.host), of(o.with)
	o.added, o.wrong = after.worth-before.worth, q.breachOf(o.with, after)
	return nil
}

// refusals returns the reasons for which no node took the pod, that of most nodes first.
func (q *question) refusals() []Refusal {
	groups := map[string]*Refusal{}
	nearest := map[string]float64{}
	const notAsked = "it costs more there than where pods would be dilated too much"
	add := func(group, why, name string, near float64) {
		g := groups[group]
		switch {
		case g == nil:
			groups[group], nearest[group] = &Refusal{Why: why, Nodes: 1, Node: name}, near
			return
		case near < nearest[group]:
			g.Why, g.Node, nearest[group] = why, name, near
		case near == 0 && g.Why != why:
			g.Why = group
		}
		g.Nodes++
	}
	for _, name := range slices.Sorted(maps.Keys(q.refused)) {
		why := q.refused[name]
		group, _, _ := strings.Cut(why, ": ")
		add(group, why, name, 0)
	}
	for _, name := range slices.Sorted(maps.Keys(q.breaches)) {
		b := q.breaches[name]
		add(fmt.Sprint(b.of, b.err != nil), b.String(), name, b.above())
	}
	for _, n := range q.nodes {
		switch name := n.Name; {
		case q.roles[name] == empty || q.roles[name] == leaving:
			add("it is to be empty", "it is to be empty", name, 0)
		case name == q.src.node.Name || q.refused[name] != "" || q.breaches[name] != nil:
		case q.after.host(name) != nil:
			add(notAsked, notAsked, name, 0)
		case n.Object != nil:
			add("its state is not known", "its state is not known", name, 0)
		}
	}
	all := []Refusal{}
	for _, g := range groups {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Refusal) int { return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Why, b.Why)) })
	return all
}
