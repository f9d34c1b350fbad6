package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/evaluate/savings"
)

// model judges as the model does, which takes no simulation.
type model struct{}

func (model) Dilations(s *scenario.Scenario, node int, pods []int) ([]float64, error) {
	found, err := comparison.NewModel(s).Node(node, pods)
	if err != nil {
		return nil, err
	}
	dilations := make([]float64, len(found))
	for k, d := range found {
		dilations[k] = d.Mean
	}
	return dilations, nil
}

func TestARowSaysHowMuchIsSaved(t *testing.T) {
	t.Parallel()
	s := &sweep{nodes: testNodes, pods: 1, newJudge: func() judge { return model{} }}
	at := savings.Point{Load: 0.6, PodsPerCore: 0.5, Unlikeness: 0.6}
	r, err := s.row(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if r.Point != at || !(r.KubeScheduler > 0.1 && r.Loadline < 0.05 && r.SavedError > 0) {
		t.Errorf("%+v", r)
	}
}

// The simulation and the model agree on who waits, so that the one does judge the pods that the other has.
func TestTheSimulationIsAskedAboutThePodsOfTheNode(t *testing.T) {
	t.Parallel()
	s := drawn(t, savings.Point{Load: 0.9, PodsPerCore: 0.5, Unlikeness: 0.6}, 1)
	at, err := place(t.Context(), s, policies[0])
	if err != nil {
		t.Fatal(err)
	}
	var pods []int
	for _, i := range s.Present(s.Steps) {
		if at[i] == 0 {
			pods = append(pods, i)
		}
	}
	simulated, err := newSimulation(0.05).Dilations(s, 0, pods)
	if err != nil {
		t.Fatal(err)
	}
	modelled, err := model{}.Dilations(s, 0, pods)
	if err != nil {
		t.Fatal(err)
	}
	for k := range pods {
		const tolerance = 0.25
		if off := simulated[k]/modelled[k] - 1; off < -tolerance || off > tolerance {
			t.Errorf("pod %d of %s: %.2f, by the model %.2f", k, s.Pods[pods[k]].Application.Name, simulated[k], modelled[k])
		}
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*options){
		"--nodes: 9 is not at least 10":                 func(o *options) { o.nodes = 9 },
		"--pods: 0 is not at least 1":                   func(o *options) { o.pods = 0 },
		"--precision: 0 is not above 0 and at most 1":   func(o *options) { o.precision = 0 },
		"--precision: 1.5 is not above 0 and at most 1": func(o *options) { o.precision = 1.5 },
	} {
		o := options{nodes: 10, pods: 1, precision: 0.1}
		if err := o.validate(); err != nil {
			t.Fatal(err)
		}
		change(&o)
		if err := o.validate(); err == nil || err.Error() != want {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

func TestAFileOfAnotherGridIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "map.csv")
	if rows, err := read(path); err != nil || rows != nil {
		t.Fatalf("%v, %v of a file that is not there", rows, err)
	}
	if err := write(path, []savings.Row{{Point: savings.Point{Load: 0.33, PodsPerCore: 3}}}); err != nil {
		t.Fatal(err)
	}
	o := &options{nodes: 10, pods: 1, precision: 0.1, out: path}
	if err := run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "name a new file to begin anew") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheMapIsThatOfTheGrid(t *testing.T) {
	t.Parallel()
	rows, err := read(filepath.Join("..", "..", "pkg", "evaluate", "savings", "map.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var points []savings.Point
	for i := range rows {
		points = append(points, rows[i].Point)
	}
	if diff := cmp.Diff(grid(), points); diff != "" {
		t.Errorf("make savings-map goes on with it (-want +got)\n%s", diff)
	}
}
