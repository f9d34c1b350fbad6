package fairshare_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// deviations is how many standard deviations a simulated mean may be off. There are 35 means, so of
// all seeds one in 450 would fail a correct pair of programs (a normal variable is further
// than 4 deviations from its mean with probability 6.3e-5).
const deviations = 4

// compare simulates what a tree describes, with service times of the moments that it
// gives, and compares.
func compare(t *testing.T, root *fairshare.Group, processors, jobs int) {
	t.Helper()
	tree, err := fairshare.New(root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fairshare.Solve(t.Context(), tree, fairshare.Options{Servers: processors})
	if err != nil {
		t.Fatal(err)
	}
	for w, e := range simulate(root, processors, jobs, rand.New(rand.NewPCG(1, 0))) {
		off := (e.response - r.Responses[w]) / e.deviation
		t.Logf("%-8s computed %8.4f, simulated %8.4f ± %.4f (%+.1f deviations)", tree.Workloads()[w].Path, r.Responses[w], e.response, e.deviation, off)
		if math.Abs(off) > deviations || e.deviation > 0.05*e.response {
			t.Errorf("%s: computed %v, simulated %v ± %v", tree.Workloads()[w].Path, r.Responses[w], e.response, e.deviation)
		}
	}
}

func TestSimulationAgreesInAGroup(t *testing.T) {
	t.Parallel()
	compare(t, group("", 0, workload("a", 1, 0.3), workload("b", 2, 0.2), workload("c", 5, 0.15), workload("d", 1, 0.05), workload("e", 100, 0.1)), 1, 2_000_000)
}

// The tree of Figs. 2 and 3 of the paper.
func TestSimulationAgreesInATree(t *testing.T) {
	t.Parallel()
	compare(t, group("", 0,
		group("web", 0.5, workload("hi", 0.75, 0.2), workload("lo", 0.25, 0.15)),
		group("db", 0.35, workload("hi", 0.75, 0.2), workload("lo", 0.25, 0.2)),
		group("it", 0.15, workload("hi", 0.75, 0.03), workload("lo", 0.25, 0.02)),
	), 1, 2_000_000)
}

func TestSimulationAgreesInADeepTree(t *testing.T) {
	t.Parallel()
	compare(t, group("", 0,
		workload("a", 1, 0.2),
		group("b", 3,
			workload("c", 2, 0.1),
			group("d", 1,
				workload("e", 1, 0.15),
				group("f", 4, workload("g", 1, 0.1), workload("h", 9, 0.1))))), 1, 2_000_000)
}

func TestSimulationAgreesWithDifferentExponentialServiceTimes(t *testing.T) {
	t.Parallel()
	root := group("", 0,
		group("x", 2, workload("a", 1, 0.2), workload("b", 3, 0.2)),
		group("y", 1, workload("c", 1, 0.2), workload("d", 10, 0.1)))
	root.Children[0].Children[0].Service = 0.1
	root.Children[0].Children[1].Service = 3
	root.Children[1].Children[1].Service = 0.5
	compare(t, root, 1, 2_000_000)
}

func TestSimulationAgreesWithServiceTimesOfAnyDistribution(t *testing.T) {
	t.Parallel()
	root := group("", 0,
		group("x", 2, workload("a", 1, 0.2), workload("b", 3, 0.2)),
		group("y", 1, workload("c", 1, 0.2), workload("d", 10, 0.1)))
	a, b, c := root.Children[0].Children[0], root.Children[0].Children[1], root.Children[1].Children[0]
	a.Service, a.SecondMoment = 2, 4 // constant
	b.Service, b.SecondMoment = 0.5, 0.25*6
	c.SecondMoment = 1 // constant
	compare(t, root, 1, 2_000_000)
}

func TestSimulationAgreesWithEqualConstantServiceTimes(t *testing.T) {
	t.Parallel()
	root := group("", 0, workload("a", 1, 0.3), workload("b", 2, 0.2), workload("c", 5, 0.3))
	for _, w := range root.Children {
		w.Service, w.SecondMoment = 1, 1
	}
	compare(t, root, 1, 2_000_000)
}

func TestSimulationAgreesWithSeveralProcessors(t *testing.T) {
	t.Parallel()
	for _, processors := range []int{2, 4} {
		each := float64(processors)
		compare(t, group("", 0,
			group("x", 2, workload("a", 1, 0.2*each), workload("b", 3, 0.25*each)),
			group("y", 1, workload("c", 1, 0.2*each), workload("d", 10, 0.2*each))), processors, 2_000_000)
	}
}
