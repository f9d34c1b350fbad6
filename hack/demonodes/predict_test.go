package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/probe/report"
)

func TestPredictionsTakeWhenEachPodStartedIntoAccount(t *testing.T) {
	t.Parallel()
	// The second comes when half of the first is done: they share for 10 s.
	busy := contention.Loadings(1, 0)
	jobs := []ran{{start: 100, neutral: 10, vector: busy}, {start: 105, neutral: 10, vector: busy}}
	for _, p := range predictors() {
		got, err := p.predict(jobs, []int{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]float64{1.5, 1.5}, got, near); diff != "" { // the second runs alone for its last 5 s
			t.Errorf("%s: %s", p.name, diff)
		}
	}
}

func TestOnlyOursKnowsOfServersAndPressures(t *testing.T) {
	t.Parallel()
	v := contention.Vector{{}, {Loading: 1, Pressure: 0.5}}
	jobs := []ran{{neutral: 10, vector: v}, {neutral: 10, vector: v}}
	want := map[string][]float64{"Loadline": {1, 1}, "D-factor": {2, 2}, "linear sum": {2, 2}}
	for _, p := range predictors() {
		got, err := p.predict(jobs, []int{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[p.name], got, near); diff != "" {
			t.Errorf("%s: %s", p.name, diff)
		}
	}
}

func TestPodsOfAMixAreComparedByTheirMediansAndInTheirOrder(t *testing.T) {
	t.Parallel()
	once := func(a, b float64) []compared {
		return []compared{
			{mix: mix{"cpu", "io"}, name: "cpu", measured: a, predicted: []float64{a + 1}},
			{mix: mix{"cpu", "io"}, name: "io", measured: b, predicted: []float64{b + 2}},
		}
	}
	got := medians([][]compared{once(1, 6), once(3, 4), once(2, 5)})
	if diff := cmp.Diff(once(2, 5), got, cmp.AllowUnexported(compared{})); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsAreFractionsOfWhatWasMeasured(t *testing.T) {
	t.Parallel()
	mean, worst := inaccuracy([]compared{
		{measured: 2, predicted: []float64{0, 2.2}}, {measured: 4, predicted: []float64{0, 2.8}},
	}, 1)
	if diff := cmp.Diff([]float64{0.2, 0.3}, []float64{mean, worst}, near); diff != "" {
		t.Error(diff)
	}
}

func TestAMixIsPredictedFromTheRunsAloneAroundIt(t *testing.T) {
	t.Parallel()
	load := func(begin, end int64) report.Load { return report.Load{Begin: begin * aSecond, End: end * aSecond} }
	s := &session{options: &options{}, known: &findings{IOServers: 1, Vectors: map[string][]component{"cpu": {{"cpu", 1, 1}}}}}
	// Alone it took 4 s before and 9 s after: 6 s, by their geometric mean.
	got, err := s.compare(mix{"cpu", "cpu"}, []report.Load{load(100, 112), load(100, 115)},
		map[string]report.Load{"cpu": load(0, 4)}, map[string]report.Load{"cpu": load(0, 9)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{2, 2.5, 2}, []float64{got[0].measured, got[1].measured, got[0].predicted[0]}, near); diff != "" {
		t.Error(diff)
	}
}
