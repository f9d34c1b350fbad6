package fit_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention/fit"
)

// Section 4 of the D-factor paper: FileComp beside the CPU probe, 123.67 s of
// 78.08 s; beside the disk probe 105.50 s were measured, 0.351 where the paper
// infers 0.42.
func TestProbesGiveTheLoadingOfFileComp(t *testing.T) {
	t.Parallel()
	got, err := fit.Probe(3, []fit.ProbeRun{{Resource: 0, Dilation: 123.67 / 78.08}, {Resource: 1, Dilation: 105.50 / 78.08}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.584, 0.351, 0} {
		if e := got.Sensitivity[i]; math.Abs(e.Value-want) > 5e-4 || e.Low > e.Value || e.High < e.Value {
			t.Errorf("resource %d: %v, want %v", i, e, want)
		}
	}
	if diff := cmp.Diff([]int{2}, got.Unidentified); diff != "" {
		t.Error(diff)
	}
	if e := got.Sensitivity[2]; e.Low != 0 || e.High != 1 {
		t.Errorf("without a probe the interval is %v, want all there is", e)
	}
}

func TestIntervalsOfProbedLoadingsCover(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	inside, all := 0, 0
	for range 500 {
		p := []float64{0.2 + 0.2*random.Float64(), 0.2 + 0.3*random.Float64()}
		var runs []fit.ProbeRun
		for range 3 {
			for i := range p {
				for copies := 1; copies <= 2; copies++ {
					dilation := (1 + float64(copies)*p[i]) * (1 + 0.03*random.NormFloat64())
					runs = append(runs, fit.ProbeRun{Resource: i, Copies: copies, Dilation: dilation})
				}
			}
		}
		got, err := fit.Probe(2, runs, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range got.Sensitivity {
			if e.Low <= p[i] && p[i] <= e.High {
				inside++
			}
			all++
		}
	}
	// Three binomial standard deviations of 1,000 intervals are 2 %.
	if share := float64(inside) / float64(all); share < 0.93 || share > 0.97 {
		t.Errorf("%.3f of the loadings lie in their 95 %% intervals", share)
	}
}

func TestSensitivitiesFromProbesAddUpToAtMostOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 5).Draw(t, "resources")
		var runs []fit.ProbeRun
		for i := range m {
			for range rapid.IntRange(0, 3).Draw(t, "runs") {
				runs = append(runs, fit.ProbeRun{
					Resource: i, Copies: rapid.IntRange(0, 3).Draw(t, "copies"),
					Dilation: rapid.Float64Range(0.9, 2.2).Draw(t, "dilation"),
				})
			}
		}
		got, err := fit.Probe(m, runs, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, e := range got.Sensitivity {
			total += e.Value
			if !(0 <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= 1) {
				t.Fatalf("interval %v", e)
			}
		}
		if total > 1+1e-12 || got.Sum > 1 && total < 1-1e-12 || got.Sum <= 1 && math.Abs(total-got.Sum) > 1e-12 {
			t.Fatalf("sensitivities add up to %v, and did to %v", total, got.Sum)
		}
	})
}

func TestAProbesOwnDilationIsThePressure(t *testing.T) {
	t.Parallel()
	got, err := fit.Probe(2, []fit.ProbeRun{{Resource: 0, Dilation: 1.3, ProbeDilation: 1.8}, {Resource: 1, Dilation: 1.2}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Pressure[0].Value-0.8) > 1e-12 || got.Pressure[1] != got.Sensitivity[1] {
		t.Errorf("pressures %v, want 0.8 and the sensitivity", got.Pressure)
	}
}

func TestBadProbeRunsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for want, run := range map[string]fit.ProbeRun{
		"runs[0]: resource: 2 is not between 0 and 1": {Resource: 2, Dilation: 1},
		"runs[0]: copies: -1 is less than 1":          {Copies: -1, Dilation: 1},
		"runs[0]: dilation: 0 is not between 0.01 and 1e+06: a dilation is the completion time over the neutral time":        {},
		"runs[0]: probeDilation: NaN is not between 0.01 and 1e+06: a dilation is the completion time over the neutral time": {Dilation: 1, ProbeDilation: math.NaN()},
	} {
		if _, err := fit.Probe(2, []fit.ProbeRun{run}, 0.95); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
