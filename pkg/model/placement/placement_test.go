package placement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

var (
	cpu = &mix.JobType{Name: "cpu", Vector: loading.Loadings(1, 0)}
	io  = &mix.JobType{Name: "io", Vector: loading.Loadings(0, 1)}
)

// machine is a node with all that ever started there.
type machine struct {
	*placement.NodeState
	runs []mix.Run        // in their state on the node, by start
	jobs []*placement.Job // likewise
}

// Nodes of one class share their cache of mixes, as those of a replay do.
func newMachines(t testing.TB, n int, class mix.NodeClass, allocatable ...float64) []*machine {
	t.Helper()
	mixes, err := mix.NewMixes(class, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	machines := make([]*machine, n)
	for i := range machines {
		machines[i] = newMachine(i, class, mixes, allocatable...)
	}
	return machines
}

// newMachine returns a machine on which nothing runs, without limits.
func newMachine(index int, class mix.NodeClass, mixes *mix.Mixes, allocatable ...float64) *machine {
	return &machine{NodeState: &placement.NodeState{
		Class: class, Mixes: mixes, Running: mix.NewRunning(mixes), Index: index,
		Capacity:    slices.Repeat([]float64{math.Inf(1)}, len(allocatable)),
		Allocatable: allocatable, Requested: make([]float64, len(allocatable)), Requesting: make([]int, len(allocatable)),
	}}
}

func nodesOf(machines []*machine) []*placement.NodeState {
	nodes := make([]*placement.NodeState, len(machines))
	for i, m := range machines {
		nodes[i] = m.NodeState
	}
	return nodes
}

// start starts a job, after the completions until then.
func (m *machine) start(now float64, j *placement.Job) {
	m.pass(now)
	m.release(m.Start(now, j, len(m.runs), nil))
	m.runs, m.jobs = append(m.runs, m.run(now, j)), append(m.jobs, j)
}

// pass completes the jobs that end until a time.
func (m *machine) pass(now float64) {
	for m.Since+m.Running.Next() <= now {
		m.Since += m.Running.Next()
		m.release(m.Running.Advance(m.Running.Next(), nil))
	}
}

func (m *machine) release(done []int) {
	for _, id := range done {
		m.Release(m.jobs[id], id)
	}
}

func (m *machine) run(now float64, j *placement.Job) mix.Run {
	vector, stretch := m.Class.On(j.Type.Vector)
	return mix.Run{Start: now, Neutral: j.Neutral * stretch * m.alone(vector), Vector: vector}
}

// alone returns how many own times a job takes that has the machine to itself.
func (m *machine) alone(v loading.Vector) float64 {
	alone, err := contention.Alone(v, m.Class.Servers, queueing.Options{})
	if err != nil {
		panic(err) // vectors are drawn to be valid
	}
	return alone
}

// cluster is some machines on which jobs are on their way, and one job more that
// arrives at some time.
type cluster struct {
	machines []*machine
	now      float64
	job      *placement.Job
}

// thousandths are the multiples to which requests are rounded up.
var thousandths = rapid.Map(rapid.IntRange(0, 1000), func(n int) float64 { return float64(n) / 1000 })

// drawCluster draws machines of several classes, each with its speeds. All jobs request something
// of two capacities; one is not known everywhere.
func drawCluster(t *rapid.T) cluster {
	const m = 2
	var types []*mix.JobType
	for k := range rapid.IntRange(1, 3).Draw(t, "types") {
		a := rapid.Float64Range(0, 1).Draw(t, "a")
		vector := loading.Loadings(a, (1-a)*rapid.Float64Range(0, 1).Draw(t, "b"))
		vector[0].Threads = rapid.IntRange(0, 2).Draw(t, "threads")
		types = append(types, &mix.JobType{Name: fmt.Sprint(k), Vector: vector})
	}
	drawJob := func() *placement.Job {
		return &placement.Job{
			Type:     rapid.SampledFrom(types).Draw(t, "type"),
			Neutral:  rapid.Float64Range(0.1, 20).Draw(t, "neutral"),
			Requests: rapid.SliceOfN(thousandths, 0, 2).Draw(t, "requests"),
		}
	}
	c := cluster{now: rapid.Float64Range(5, 10).Draw(t, "now")}
	for range rapid.IntRange(1, 3).Draw(t, "classes") {
		class := mix.NodeClass{
			Servers:   rapid.SliceOfN(rapid.IntRange(1, 3), m, m).Draw(t, "servers"),
			Processor: -1, // jobs share by threads, as in [mix.CompletionsBy]
			Speeds:    rapid.SliceOfN(rapid.Float64Range(0.5, 2), 0, m).Draw(t, "speeds"),
		}
		allocatable := []float64{rapid.Float64Range(0.5, 8).Draw(t, "allocatable"), rapid.SampledFrom([]float64{0, 4}).Draw(t, "or none")}
		mixes, err := mix.NewMixes(class, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 2).Draw(t, "count") {
			c.machines = append(c.machines, newMachine(len(c.machines), class, mixes, allocatable...))
		}
	}
	for _, machine := range c.machines {
		for _, now := range slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Float64Range(0, 5), 0, 4).Draw(t, "starts"))) {
			machine.start(now, drawJob())
		}
		machine.pass(c.now) // the scheduler's view has been brought up to date
	}
	c.job = drawJob()
	return c
}

// mustBeLeast fails unless a choice has the least cost of all.
func mustBeLeast(t *rapid.T, policy placement.Policy, chosen int, costs []float64) {
	const rounding = 1e-6 // much more than sums differ in another order, much less than matters
	for i, cost := range costs {
		if cost < costs[chosen]-rounding*max(1, math.Abs(cost)) {
			t.Fatalf("%s chose node %d at %v; node %d is at %v", policy.Name(), chosen, costs[chosen], i, cost)
		}
	}
}

// costs returns the cost of each machine.
func (c cluster) costs(cost func(*machine) float64) []float64 {
	costs := make([]float64, len(c.machines))
	for i, m := range c.machines {
		costs[i] = cost(m)
	}
	return costs
}

// Each policy by its rule, spelled out.
func TestPoliciesChooseByTheirRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy placement.Policy
		cost   func(*testing.T, cluster, *machine) float64
	}{
		{placement.List{}, workLeft},
		{placement.LeastRequested{Scored: scored}, leastAllocated},
		{placement.TargetLoadPacking{Target: 0.6}, packing(0.6)},
		{placement.TargetLoadPacking{}, packing(0.4)},
		{placement.LMUF{}, busiest},
		{placement.LeastDilation{}, growthOfWait},
		{placement.LRT{}, completionOfTheJob},
		{&placement.LeastCompletion{}, completionOfAll},
	} {
		t.Run(test.policy.Name(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				c := drawCluster(rt)
				chosen := test.policy.Choose(c.now, c.job, nodesOf(c.machines))
				mustBeLeast(rt, test.policy, chosen, c.costs(func(m *machine) float64 { return test.cost(t, c, m) }))
			})
		})
	}
}

// Of equal nodes the first is taken, whatever runs there.
func TestTiesGoToTheFirstNode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for range 2 {
			// The same node under another index.
			twin := *c.machines[0].NodeState
			twin.Index = len(c.machines)
			c.machines = append(c.machines, &machine{NodeState: &twin, runs: c.machines[0].runs, jobs: c.machines[0].jobs})
		}
		nodes := nodesOf([]*machine{c.machines[0], c.machines[len(c.machines)-2], c.machines[len(c.machines)-1]})
		for _, policy := range []placement.Policy{
			placement.List{},
			placement.LeastRequested{Scored: scored},
			placement.TargetLoadPacking{},
			placement.LMUF{},
			placement.LeastDilation{},
			placement.LRT{},
			&placement.LeastCompletion{}, &placement.RoundRobin{},
		} {
			if got := policy.Choose(c.now, c.job, nodes); got != 0 {
				t.Fatalf("%s chose node %d of three that are equal", policy.Name(), got)
			}
		}
	})
}

// Choosing does not change the nodes.
func TestPoliciesOnlyLook(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		state := func() []any {
			var all []any
			for _, m := range c.machines {
				all = append(all, m.Since, m.Running.Next(), m.Running.Left(0), m.Running.Mix().Jobs(), slices.Clone(m.Requested), slices.Clone(m.Requesting))
			}
			return all
		}
		before := state()
		for _, name := range placement.Names() {
			policy, err := placement.Named(name, placement.Options{Rand: rand.New(rand.NewPCG(1, 2)), Scored: scored})
			if err != nil {
				t.Fatal(err)
			}
			policy.Choose(c.now, c.job, nodesOf(c.machines))
			if diff := cmp.Diff(before, state()); diff != "" {
				t.Fatalf("%s changed the nodes (-before +after)\n%s", name, diff)
			}
		}
	})
}
