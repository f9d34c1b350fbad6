package comparison

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/loading"
)

// busy is an application whose pods always run on a core, and one that lives off the disk.
func busy(name string, milliCPU int64) *scenario.Application {
	v := bursting(loading.Loadings(1, 0, 0))
	return &scenario.Application{Name: name, Class: &scenario.Class{MaxDilation: 1.5}, Vector: v, Declared: v, MilliCPU: milliCPU, MiB: 1}
}

func disk(name string, fraction float64) *scenario.Application {
	v := bursting(loading.Loadings(0, fraction, 0))
	return &scenario.Application{Name: name, Class: &scenario.Class{MaxDilation: 1.5}, Vector: v, Declared: v, MilliCPU: 100, MiB: 1}
}

// bursting returns a vector of threads that are served for 10 ms at a time, on average.
func bursting(v loading.Vector) loading.Vector {
	for i := range v {
		v[i].Burst = 0.01
	}
	return v
}

// cluster is a scenario of one step on nodes with one core, one disk and one link.
func cluster(nodes int, pods ...*scenario.Application) *scenario.Scenario {
	s := &scenario.Scenario{}
	size := &scenario.Size{Name: "one", Servers: []int{1, 1, 1}, MiB: 1024}
	for n := range nodes {
		s.Nodes = append(s.Nodes, scenario.Node{Name: "node-" + strconv.Itoa(n), Size: size})
	}
	for i, a := range pods {
		s.Pods = append(s.Pods, scenario.Pod{Name: "pod-" + strconv.Itoa(i), Application: a, Goes: 1})
		if !slices.Contains(s.Applications, a) {
			s.Applications = append(s.Applications, a)
		}
	}
	return s
}

// By hand: of two pods that always want the one core each gets half if they request alike; requests of 300m and 100m are weights
// of 12 and 4, which give 3/4 and 1/4; and two pods that use different things do not meet.
func TestPodsAreJudgedByWhomTheyShareANodeWith(t *testing.T) {
	t.Parallel()
	small, large, io := busy("small", 100), busy("large", 300), disk("io", 1)
	for _, test := range []struct {
		name string
		pods []*scenario.Application
		at   Placement
		want Moment
	}{
		{"apart", []*scenario.Application{small, small}, Placement{0, 1}, Moment{[]float64{1, 1}, 0, 2, 0}},
		{"together", []*scenario.Application{small, small}, Placement{1, 1}, Moment{[]float64{2, 2}, 2, 1, 0}},
		{"unequal requests", []*scenario.Application{small, large}, Placement{0, 0}, Moment{[]float64{4, 4.0 / 3}, 1, 1, 0}},
		{"unequal requests, the other way", []*scenario.Application{large, small}, Placement{0, 0}, Moment{[]float64{4.0 / 3, 4}, 1, 1, 0}},
		{"different things", []*scenario.Application{small, io}, Placement{0, 0}, Moment{[]float64{1, 1}, 0, 1, 0}},
		{"one that waits", []*scenario.Application{small, small}, Placement{0, Nowhere}, Moment{[]float64{1}, 0, 1, 0}},
	} {
		s := cluster(2, test.pods...)
		for name, judge := range map[string]Judge{"simulation": NewSimulation(s, nodesim.New()), "model": NewModel(s)} {
			got, err := JudgeMoment(judge, s, test.at)
			if err != nil {
				t.Fatal(err)
			}
			if got.Error > 0.01*got.Mean() {
				t.Errorf("%s, %s: the standard error is %v", name, test.name, got.Error)
			}
			got.Error = 0
			// Shares by weights are solved to about 1 %, and a simulated kernel gives them by its ticks.
			if diff := cmp.Diff(&test.want, got, cmpopts.EquateApprox(0.02, 0)); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", name, test.name, diff)
			}
		}
	}
}

func TestTheModelRemembersMixesAndNotPods(t *testing.T) {
	t.Parallel()
	small, large := busy("small", 100), busy("large", 300)
	j := NewModel(cluster(2, small, large, large, small))
	first, err := j.Node(0, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	second, err := j.Node(1, []int{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if first[0] != second[1] || first[1] != second[0] || len(j.known) != 1 {
		t.Errorf("%v, then %v the other way round; %d mixes are known", first, second, len(j.known))
	}
}

// fixed places the pods as it is told, step by step.
type fixed []Placement

func (f fixed) Place(_ context.Context, step int, at Placement) error {
	copy(at, f[step])
	return nil
}

// Two steps: first both pods on one node, then one is gone. The figures are means over the steps, by hand.
func TestStepsCountTheSame(t *testing.T) {
	t.Parallel()
	s := cluster(2, busy("a", 100), busy("a", 100))
	s.Steps = 1
	s.Pods[1].Goes = 2
	o, err := Run(t.Context(), s, fixed{{0, 0}, {Nowhere, 0}}, NewJudges(s, nodesim.New()))
	if err != nil {
		t.Fatal(err)
	}
	verdict := Verdict{Mean: 5.0 / 3, P95: 2, Worst: 2, Violations: 1}
	want := Figures{Placed: 1.5, Nodes: 1, Simulated: verdict, Modelled: verdict}
	if diff := cmp.Diff(want, o.Figures, cmpopts.EquateApprox(0.01, 0), cmpopts.IgnoreFields(Verdict{}, "Error")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !slices.Equal(o.Last, Placement{Nowhere, 0}) {
		t.Errorf("the last placement is %v", o.Last)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := cluster(1, busy("a", 100))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, s, fixed{{0}}, NewJudges(s, nodesim.New())); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// leastDilation runs a scenario with the policy of that name.
func leastDilation(t *testing.T, s *scenario.Scenario) *Outcome {
	t.Helper()
	placer, err := NewOffline(s, "least-dilation")
	if err != nil {
		t.Fatal(err)
	}
	o, err := Run(t.Context(), s, placer, NewJudges(s, nodesim.New()))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Of three pods for one core that request 500m each one waits, until another has gone.
func TestOfflineAPodWithoutRoomWaits(t *testing.T) {
	t.Parallel()
	a := busy("a", 500)
	s := cluster(1, a, a, a)
	s.Steps = 1
	s.Pods[1].Goes, s.Pods[2].Goes = 2, 2
	o := leastDilation(t, s)
	if o.Placed != 2 || o.Waiting != 0.5 || !slices.Equal(o.Last, Placement{Nowhere, 0, 0}) {
		t.Errorf("%v pods are placed and %v wait on average, at the end they are at %v", o.Placed, o.Waiting, o.Last)
	}
}

func TestOfflineLeastDilationKeepsEqualPodsApart(t *testing.T) {
	t.Parallel()
	a, io := busy("a", 100), disk("io", 1)
	s := cluster(2, a, io, a, io)
	o := leastDilation(t, s)
	if o.Simulated.Worst != 1 || o.Modelled.Worst != 1 || o.Nodes != 2 {
		t.Errorf("dilations of %v on %v nodes, at %v", o.Dilations, o.Nodes, o.Last)
	}
	if _, err := NewOffline(s, "best"); err == nil {
		t.Error("an unknown policy is taken")
	}
}

// total is the total excess dilation of a placement.
func total(t *testing.T, s *scenario.Scenario, j Judge, at Placement) float64 {
	t.Helper()
	m, err := JudgeMoment(j, s, at)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, d := range m.Dilations {
		sum += d - 1
	}
	return sum
}

// Five pods on two nodes, drawn at random: the search finds what trying all placements finds, from wherever it begins, and is
// never worse than where it began, however few trials it has.
func TestASearchFindsTheBestOfFewPlacements(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		var pods []*scenario.Application
		for i := range 5 {
			a := disk(strconv.Itoa(i), math.Round(100*draw.Float64())/100)
			a.Vector = loading.Loadings(1-a.Vector[scenario.Disk].Loading, a.Vector[scenario.Disk].Loading, 0)
			a.MilliCPU = int64(100 + draw.IntN(200))
			pods = append(pods, a)
		}
		s := cluster(2, pods...)
		j := NewModel(s)
		best := math.Inf(1)
		for choice := range 1 << len(pods) {
			at := make(Placement, len(pods))
			room := []int64{1000, 1000}
			for i := range at {
				at[i] = choice >> i & 1
				room[at[i]] -= pods[i].MilliCPU
			}
			if min(room[0], room[1]) >= 0 {
				best = min(best, total(t, s, j, at))
			}
		}
		from := Placement{0, 1, 0, 1, 0}
		for _, trials := range []int{0, 1, 1000} {
			found, changes, err := Search(s, j, from, SearchOptions{Width: 2, Trials: trials, Rand: rand.New(rand.NewPCG(3, 4))})
			if err != nil {
				t.Fatal(err)
			}
			if got := total(t, s, j, found); got > total(t, s, j, from) || changes > trials || trials == 1000 && got > best+1e-5 {
				t.Errorf("%d trials: %v with %d changes, from %v; the best there is has %v", trials, got, changes, total(t, s, j, from), best)
			}
		}
		if !slices.Equal(from, Placement{0, 1, 0, 1, 0}) {
			t.Fatal("the search changed the placement that it was given")
		}
	}
}

// A search keeps within requests: of two pods that fill a node each none can go anywhere, however dilated.
func TestASearchKeepsWithinRequests(t *testing.T) {
	t.Parallel()
	a, b := busy("a", 600), busy("b", 500)
	s := cluster(2, a, b, b)
	from := Placement{0, 1, 1}
	found, _, err := Search(s, NewModel(s), from, SearchOptions{Width: 2, Trials: 100, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(found, from) {
		t.Errorf("found %v", found)
	}
}
