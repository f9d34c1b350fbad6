package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/hack/experiments/measure"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/probe/result"
)

var near = cmpopts.EquateApprox(0, 1e-9) // rounding

func TestPredictionsTakeWhenEachPodStartedIntoAccount(t *testing.T) {
	t.Parallel()
	// The second comes when half of the first is done: they share for 10 s.
	busy := loading.Loadings(1, 0)
	jobs := []Ran{{Start: 100, Neutral: 10, Vector: busy}, {Start: 105, Neutral: 10, Vector: busy}}
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
	v := loading.Vector{{}, {Loading: 1, Pressure: 0.5}}
	jobs := []Ran{{Neutral: 10, Vector: v}, {Neutral: 10, Vector: v}}
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
			{mix: Mix{"cpu", "io"}, name: "cpu", measured: a, predicted: []float64{a + 1}},
			{mix: Mix{"cpu", "io"}, name: "io", measured: b, predicted: []float64{b + 2}},
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
			Begin: begin * int64(1e9), End: end * int64(1e9), CPUNanos: computing * int64(1e9), Rounds: 100,
		}
	}
	f := &measure.Findings{
		IOServers: 1, Vectors: map[string][]measure.Component{"cpu": {{Resource: "cpu", Loading: 1, Pressure: 1}}},
		Accounts: map[string]result.Load{"cpu": load(0, 5, 5)},
	}
	// Alone it took 4 s before and 9 s after: 6 s, by their geometric mean. In the mix the
	// first one computed 2 s longer for the same work.
	ran := []Together{{
		Mix: Mix{"cpu", "cpu"}, Loads: []result.Load{load(100, 112, 8), load(100, 115, 6)},
		Before: map[string]result.Load{"cpu": load(0, 4, 4)}, After: map[string]result.Load{"cpu": load(0, 9, 9)},
	}}
	got, err := compareAll(ran, f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1.5, 2.5}, []float64{got[0].measured, got[1].measured}, near); diff != "" {
		t.Error(diff)
	}
}

func TestMixesAreWrittenWithTheirCopies(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff("2× cpu, io", Mix{"cpu", "io", "cpu"}.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, Kinds(Mix{"c", "a"}, Mix{"b", "a"})); diff != "" {
		t.Error(diff)
	}
}
