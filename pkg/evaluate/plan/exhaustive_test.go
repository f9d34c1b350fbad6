package plan

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/combin"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/feasibility"
)

var clusters = flag.Int("clusters", 2, "random clusters whose plans are compared with the best ones; 200 take ten minutes")

// every are all single changes of a cluster, whether they help or not.
func every(st *state) (all []*candidate) {
	for _, name := range st.names() {
		h := st.host(name)
		for i := range h.members {
			for _, c := range append(raiseLimits(h, i), raiseRequest(h, i), lowerRequest(h, i)) {
				if c != nil {
					all = append(all, c)
				}
			}
			for _, to := range st.names() {
				if to != name {
					all = append(all, move(h, i, h.without(i), st.host(to)))
				}
			}
		}
	}
	return all
}

// oracle finds the best of all sets of a few changes.
type oracle struct {
	t      *testing.T
	in     *observed.Input
	first  *state
	all    []*candidate
	solved map[string]*host

	best  float64
	found []*candidate
}

// host returns a host that is solved, each once.
func (o *oracle) host(h *host) *host {
	var parts []string
	for i := range h.members {
		request := h.object(i).Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
		parts = append(parts, h.members[i].pod.Name()+"="+request.String())
	}
	sort.Strings(parts)
	key := h.node.Name + ":" + strings.Join(parts, ",")
	if known := o.solved[key]; known != nil {
		return known
	}
	if err := h.solve(); err != nil {
		o.t.Fatal(err)
	}
	o.solved[key] = h
	return h
}

// search tries all sets of at most some more changes, of those from an index on, each of another pod.
func (o *oracle) search(st *state, from, more int, made []*candidate) {
	if win := o.first.excess() - st.excess(); win > o.best+1e-9 && o.valid(st, made) {
		o.best, o.found = win, slices.Clone(made)
	}
	if more == 0 {
		return
	}
	for k := from; k < len(o.all); k++ {
		if slices.ContainsFunc(made, func(c *candidate) bool { return c.who == o.all[k].who }) {
			continue
		}
		c := st.again(o.all[k])
		if c == nil {
			continue
		}
		next := st.clone()
		for _, h := range c.after {
			next.put(o.host(h))
		}
		o.search(next, k+1, more-1, append(made, o.all[k]))
	}
}

// valid reports whether the changes can be made in some order, the scheduler would let all pods that have moved run where they are then, and the
// changes together, taken as one, help as each change has to.
func (o *oracle) valid(st *state, made []*candidate) bool {
	all := &candidate{}
	for _, name := range st.names() {
		all.before, all.after = append(all.before, o.first.host(name)), append(all.after, st.host(name))
	}
	if !all.helps() {
		return false
	}
	changed := &feasibility.Cluster{Nodes: o.in.Nodes}
	moved := map[string]bool{}
	for _, c := range made {
		moved[c.change.Pod] = c.change.Action == MovePod
	}
	for h := range st.hosts() {
		if h.free < 0 {
			return false
		}
		for i := range h.members {
			changed.Pods = append(changed.Pods, *h.object(i))
		}
	}
	filter, err := feasibility.New(changed)
	if err != nil {
		o.t.Fatal(err)
	}
	for i := range changed.Pods {
		p := &changed.Pods[i]
		if moved[p.Namespace+"/"+p.Name] && filter.Of(p)(p.Spec.NodeName).Refused != "" {
			return false
		}
	}
	return slices.ContainsFunc(combin.Permutations(len(made), len(made)), func(order []int) bool { return o.inOrder(made, order) })
}

// inOrder reports whether each change can be made once those before it are.
func (o *oracle) inOrder(made []*candidate, order []int) bool {
	st := o.first.clone()
	for _, k := range order {
		c := st.again(made[k])
		if c == nil || !st.fits(c) {
			return false
		}
		st.apply(c)
	}
	return true
}

// A plan of up to three changes wins nearly as much as the best set of as many that there is.
func TestPlansAreNearTheBest(t *testing.T) {
	t.Parallel()
	const changes = 3
	sum, compared, worst := 0.0, 0, 1.0
	for seed := 0; compared < *clusters; seed++ {
		rng := rand.New(rand.NewPCG(uint64(seed), 43))
		nodes, workloads := drawCluster(rng)
		in := observedAs(t, nodes, workloads)
		c, filter := looked(t, in, observed.DefaultAbove)
		s, err := newSearch(c, &Options{Above: observed.DefaultAbove, Max: changes, Feasibility: filter})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range s.state.names() {
			if err := s.state.host(name).solve(); err != nil {
				t.Fatal(err)
			}
		}
		first := s.state.clone()
		if first.excess() < 0.1 {
			continue
		}
		s.run()
		won := first.excess() - s.state.excess()
		o := &oracle{t: t, in: in, first: first, all: every(first), solved: map[string]*host{}}
		o.search(first, 0, changes, nil)
		if o.best < 0.05 {
			continue // too little to make a change for
		}
		compared++
		sum += won / o.best
		if part := won / o.best; part < worst || part < 0.95 {
			worst = min(worst, part)
			t.Logf("cluster %d (%d nodes, %d pods, excess %.3f): %.3f of %.3f\n  ours %s\n  best %s", seed, len(nodes), len(workloads), first.excess(), won, o.best, words(s.steps), words(o.found))
		}
	}
	t.Logf("%d clusters: %.1f %% of the best on average, %.1f %% at worst", compared, 100*sum/float64(compared), 100*worst)
	if mean := sum / float64(compared); mean < 0.97 {
		t.Errorf("plans win %.1f %% of the best on average", 100*mean)
	}
}

func words(steps []*candidate) string {
	var all []string
	for _, c := range steps {
		all = append(all, fmt.Sprintf("%s %s %s%v→%s", c.change.Action, c.change.Pod, c.change.Node, c.change.Request, c.change.To))
	}
	return strings.Join(all, "; ")
}
