package fairsim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/model/fairshare/fairsim"
)

// z is how many standard deviations a simulated mean may be off. There are 35 means, so of
// all seeds one in 450 would fail a correct pair of programs (a normal variable is further
// than 4 deviations from its mean with probability 6.3e-5).
const z = 4

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
	got, err := fairsim.Simulate(t.Context(), simulated(root), processors, jobs, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	for w, e := range got {
		off := (e.Response - r.Responses[w]) / e.Deviation
		t.Logf("%-8s computed %8.4f, simulated %8.4f ± %.4f (%+.1f deviations)", tree.Workloads()[w].Path, r.Responses[w], e.Response, e.Deviation, off)
		if math.Abs(off) > z || e.Deviation > 0.05*e.Response {
			t.Errorf("%s: computed %v, simulated %v ± %v", tree.Workloads()[w].Path, r.Responses[w], e.Response, e.Deviation)
		}
	}
}

// simulated translates a tree.
func simulated(g *fairshare.Group) fairsim.Group {
	s := fairsim.Group{Share: g.Share}
	for _, child := range g.Children {
		s.Members = append(s.Members, simulated(child))
	}
	if g.Children != nil {
		return s
	}
	mean := g.Service
	if mean == 0 {
		mean = 1
	}
	s.Rate, s.Service = g.Utilization/mean, fairsim.Exponential(mean)
	if g.SecondMoment > 0 {
		s.Service = fairsim.Constant(mean)
		if variance := g.SecondMoment - mean*mean; variance > 1e-9 {
			s.Service = twoPoints(mean, variance)
		}
	}
	return s
}

// twoPoints returns service times with a mean and variance that are either long, one in
// ten, or short.
func twoPoints(mean, variance float64) func(*rand.Rand) float64 {
	const rare = 0.1
	long := mean + math.Sqrt(variance*(1-rare)/rare)
	short := mean - math.Sqrt(variance*rare/(1-rare))
	return func(r *rand.Rand) float64 {
		if r.Float64() < rare {
			return long
		}
		return short
	}
}

func group(name string, share float64, members ...*fairshare.Group) *fairshare.Group {
	return &fairshare.Group{Name: name, Share: share, Children: members}
}

func workload(name string, share, utilization float64) *fairshare.Group {
	return &fairshare.Group{Name: name, Share: share, Utilization: utilization}
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

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	fine := fairsim.Group{Members: []fairsim.Group{{Share: 1, Rate: 0.5, Service: fairsim.Constant(1)}}}
	random := rand.New(rand.NewPCG(1, 0))
	for name, refused := range map[string]func() error{
		"no share": func() error {
			return simulate(t, fairsim.Group{Members: []fairsim.Group{{Rate: 1, Service: fairsim.Constant(1)}}}, 1, 1000, random)
		},
		"no arrivals":   func() error { return simulate(t, fairsim.Group{Members: []fairsim.Group{{Share: 1}}}, 1, 1000, random) },
		"no processors": func() error { return simulate(t, fine, 0, 1000, random) },
		"few jobs":      func() error { return simulate(t, fine, 1, 1, random) },
	} {
		if refused() == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

func simulate(t *testing.T, root fairsim.Group, processors, jobs int, random *rand.Rand) error {
	t.Helper()
	_, err := fairsim.Simulate(t.Context(), root, processors, jobs, random)
	return err
}
