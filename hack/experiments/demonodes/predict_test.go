package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/probe/result"
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
	load := func(begin, end, computing int64) result.Load {
		return result.Load{
			Begin: begin * aSecond, End: end * aSecond, CPUNanos: computing * aSecond, Rounds: 100,
		}
	}
	f := &findings{
		IOServers: 1, Vectors: map[string][]component{"cpu": {{Resource: "cpu", Loading: 1, Pressure: 1}}},
		Accounts: map[string]result.Load{"cpu": load(0, 5, 5)},
	}
	// Alone it took 4 s before and 9 s after: 6 s, by their geometric mean. In the mix the
	// first one computed 2 s longer for the same work.
	ran := []together{{
		Mix: mix{"cpu", "cpu"}, Loads: []result.Load{load(100, 112, 8), load(100, 115, 6)},
		Before: map[string]result.Load{"cpu": load(0, 4, 4)}, After: map[string]result.Load{"cpu": load(0, 9, 9)},
	}}
	got, err := f.compareAll(ran, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1.5, 2.5}, []float64{got[0].measured, got[1].measured}, near); diff != "" {
		t.Error(diff)
	}
	got, err = f.compareAll(ran, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{2, 2.5, 2}, []float64{got[0].measured, got[1].measured, got[0].predicted[0]}, near); diff != "" {
		t.Error(diff)
	}
}

// Where the processors are twice as slow, a job that computed half of its time computes two
// thirds of it.
func TestVectorsAreThoseOfProcessorsAsFastAsInTheMix(t *testing.T) {
	t.Parallel()
	load := func(rounds int, computing int64) result.Load {
		return result.Load{CPUNanos: computing * aSecond, Rounds: rounds}
	}
	f := &findings{
		IOJob: network, IOServers: 1, Accounts: map[string]result.Load{"job": load(100, 4)},
		Vectors: map[string][]component{"job": {{"cpu", 0.5, 0.6, 0.4}, {"network", 0.3, 0.3, 0.15}}},
	}
	want := contention.Vector{
		{Loading: 1 / 1.5, Pressure: 1.2 / 1.5, Sensitivity: 0.8 / 1.5, Threads: 1},
		{Loading: 0.3 / 1.5, Pressure: 0.3 / 1.5, Sensitivity: 0.15 / 1.5, Threads: 1},
	}
	if diff := cmp.Diff(want, f.vectorLike(load(50, 4), "job"), near); diff != "" {
		t.Error(diff)
	}
}

func TestAJobThatDoesNotComputeIsAsMeasured(t *testing.T) {
	t.Parallel()
	f := &findings{
		IOJob: network, IOServers: 1, Accounts: map[string]result.Load{"job": {Rounds: 10}},
		Vectors: map[string][]component{"job": {{"network", 0.3, 0.3, 0.15}}},
	}
	if diff := cmp.Diff(f.vector("job"), f.vectorLike(result.Load{Rounds: 5}, "job")); diff != "" {
		t.Error(diff)
	}
}
