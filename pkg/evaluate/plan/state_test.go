package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/observed"
)

// searched returns a search of a cluster.
func searched(t *testing.T, nodes []corev1.Node, workloads []workload) *search {
	t.Helper()
	c, filter := looked(t, observedAs(t, nodes, workloads), observed.DefaultAbove)
	s, err := newSearch(c, &Options{Feasibility: filter, Max: 10})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the dilation of a pod comes from is found out where it was observed, also where a host to which it has moved is worked out first.
func TestWhatDilationsComeFromDoesNotDependOnWhatIsWorkedOutFirst(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		for what, work := range map[string]func(*host) error{"model": (*host).solve, "estimates": (*host).estimate} {
			var fares [2][][]float64
			for run, homeFirst := range []bool{true, false} {
				nodes, workloads := drawn(seed)
				s := searched(t, nodes, workloads)
				for _, name := range s.state.names() {
					s.state.unchanged[name].exact, s.state.unchanged[name].prediction = nil, nil // newSearch has solved some
				}
				for _, subject := range subjects(s.state) {
					subject.exact = nil
				}
				for _, c := range every(s.state) {
					if c.change.Action != MovePod {
						continue
					}
					hosts := slices.Concat(c.after, c.before)
					if homeFirst {
						hosts = slices.Concat(c.before, c.after)
					}
					for _, h := range hosts {
						if err := work(h); err != nil {
							t.Fatal(err)
						}
					}
					for _, h := range c.after {
						fares[run] = append(fares[run], c.outcomeBy(what, h).dilations)
					}
				}
			}
			if diff := cmp.Diff(fares[0], fares[1], cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("seed %d, by %s (- those before first, + those after first):\n%s", seed, what, diff)
			}
		}
	}
}

func drawn(seed uint64) ([]corev1.Node, []workload) {
	return drawCluster(rand.New(rand.NewPCG(seed, 11)))
}

// outcomeBy returns the outcome of a host by the model or by estimates.
func (c *candidate) outcomeBy(what string, h *host) *outcome {
	c.rough = what == "estimates"
	return c.outcome(h)
}

func subjects(st *state) (all []*subject) {
	for h := range st.hosts() {
		for i := range h.members {
			all = append(all, h.members[i].subject)
		}
	}
	return all
}

// A change of a state is none of the states that it was made of, and none of those are copied with it.
func TestStatesShareWhatHasNotChanged(t *testing.T) {
	t.Parallel()
	s := searched(t, []corev1.Node{worker("a", 1), worker("b", 2), worker("c", 1)}, []workload{
		{name: "web", node: "a", request: 100, loading: 0.6, threads: 1}, {name: "batch", node: "a", request: 100, loading: 0.9, threads: 1},
	})
	first := s.state
	next := first.clone()
	a := first.host("a")
	c := move(a, 0, a.without(0), first.host("b"))
	next.apply(c)
	if len(next.changed) != 2 || len(first.changed) != 0 {
		t.Errorf("%d nodes have changed, and %d of the state before", len(next.changed), len(first.changed))
	}
	if first.host("a") != a || next.host("a") != c.after[0] || next.host("b") != c.after[1] || next.host("c") != first.host("c") || next.host("d") != nil {
		t.Error("the nodes are others")
	}
	var names []string
	for h := range next.hosts() {
		names = append(names, fmt.Sprint(h.node.Name, " ", len(h.members)))
	}
	if diff := cmp.Diff([]string{"a 1", "b 1", "c 0"}, names, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("unexpected nodes with numbers of pods (-want +got):\n%s", diff)
	}
}

// A set of changes is looked for where it may help: of a large cluster most nodes are not worked out.
func TestTheSearchForASetWorksOutFewNodes(t *testing.T) {
	t.Parallel()
	const size = 200
	var nodes []corev1.Node
	var workloads []workload
	for n := range size {
		name := fmt.Sprintf("worker-%03d", n)
		nodes = append(nodes, worker(name, 1))
		for k := range 3 {
			workloads = append(workloads, workload{name: fmt.Sprintf("pod-%03d-%d", n, k), node: name, request: 300, loading: 0.3, threads: 1})
		}
	}
	s := searched(t, nodes, workloads)
	s.bestSet(s.state.host("worker-000"), paired)
	estimated := 0
	for h := range s.state.hosts() {
		if h.rough != nil {
			estimated++
		}
	}
	if most := 1 + enabling*pairing*(1+enabling*pairing); estimated == 0 || estimated > most {
		t.Errorf("%d of %d nodes were estimated, want at most %d", estimated, size, most)
	}
}
