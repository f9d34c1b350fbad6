package comparison

import (
	"math"
	"testing"

	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/loading"
)

// Pods that request 4 cores, and use something else: within an hour of being observed the CPU is known, on a node of their own as beside
// others for which they wait, and nothing else is.
func TestAnHourOfGaugesShowsWhatPodsUseOfTheCPU(t *testing.T) {
	t.Parallel()
	app := func(name string, threads int, loadings ...float64) *scenario.Application {
		v := bursting(loading.Loadings(loadings...))
		for i := range v {
			v[i].Threads = threads
		}
		return &scenario.Application{Name: name, Class: &scenario.Class{}, Vector: v, MilliCPU: 4000, MiB: 1}
	}
	alone, busy, crowded, unseen := app("alone", 1, 0.2, 0.3, 0), app("busy", 2, 0.9, 0, 0.1), app("crowded", 1, 0.5, 0.1, 0.1), app("unseen", 1, 0.1, 0, 0)
	s := cluster(2, alone, busy, crowded, unseen)
	for i := range s.Nodes {
		s.Nodes[i].Size = &scenario.Size{Name: "two", Servers: []int{2, 1, 1}, MiB: 1024}
	}
	got, err := Observed(s, Placement{0, 1, 1, Nowhere}, NewSimulation(s, nodesim.New()))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*scenario.Application{alone, busy, crowded} {
		want, v := a.Vector[scenario.CPU], got[a.Name]
		if len(v) != 1 || math.Abs(v[0].Loading-want.Loading) > 0.05 || v[0].Threads != want.Threads {
			t.Errorf("%s: observed %+v, is %+v", a.Name, v, want)
		}
	}
	if v, seen := got["unseen"]; seen {
		t.Errorf("a pod without a node was observed: %v", v)
	}
}
