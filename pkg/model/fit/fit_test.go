package fit_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/fit"
)

// A job and a probe of each resource, which is known and held.
func probes() map[string]fit.Belief {
	return map[string]fit.Belief{
		"probe-cpu":  {Sensitivity: []float64{1, 0}, Weight: math.Inf(1)},
		"probe-disk": {Sensitivity: []float64{0, 1}, Weight: math.Inf(1)},
	}
}

func named() fit.Options {
	return fit.Options{Resources: []string{"cpu", "disk"}, Beliefs: probes(), Fractions: true}
}

func pair(name, a string, x float64, b string, y float64) fit.Run {
	return fit.Run{Name: name, Members: []fit.Member{{Job: a, Dilation: x}, {Job: b, Dilation: y}}}
}

func mustFit(t *testing.T, runs []fit.Run, options fit.Options) *fit.Result {
	t.Helper()
	r, err := fit.Fit(runs, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func find(t *testing.T, r *fit.Result, name string) fit.Job {
	t.Helper()
	for _, j := range r.Jobs {
		if j.Name == name {
			return j
		}
	}
	t.Fatalf("no job %q in the result", name)
	return fit.Job{}
}

// FileComp of the D-factor paper: 0.58 beside the CPU probe, 0.42 beside that of the disk. The pull
// towards the average job accounts for the remaining 0.01.
func TestRunsBesideProbesGiveThePapersVector(t *testing.T) {
	t.Parallel()
	r := mustFit(t, []fit.Run{
		pair("1", "filecomp", 1.58, "probe-cpu", 1.58),
		pair("2", "filecomp", 1.42, "probe-disk", 1.42),
	}, named())
	j := find(t, r, "filecomp")
	for i, want := range []float64{0.58, 0.42} {
		if math.Abs(j.Sensitivity[i].Value-want) > 0.01 || math.Abs(j.Pressure[i].Value-want) > 0.01 {
			t.Errorf("%s: sensitivity %v and pressure %v, want %v", r.Resources[i], j.Sensitivity[i].Value, j.Pressure[i].Value, want)
		}
	}
	if len(r.Unidentified) > 0 || r.Hidden {
		t.Errorf("unidentified: %v", r.Unidentified)
	}
	if v, err := r.Vector("filecomp"); err != nil || len(v) != 2 {
		t.Errorf("vector %v, %v", v, err)
	}
}

func TestWhatNoRunTellsIsNamed(t *testing.T) {
	t.Parallel()
	r := mustFit(t, []fit.Run{
		pair("1", "grep", 1.5, "probe-cpu", 1.5), // nothing of the disk
		pair("2", "sort", 0, "probe-cpu", 1.9),   // nothing of its sensitivity
		pair("3", "sort", 0, "probe-disk", 1.1),
		{Name: "4", Members: []fit.Member{{Job: "pi"}, {Job: "grep"}}}, // nothing at all
	}, named())
	var got []string
	for _, u := range r.Unidentified {
		got = append(got, u.String())
	}
	want := []string{
		`the sensitivity of "grep": what was observed of it, 1 dilation, tells nothing of disk`,
		`the pressure of "grep": what was observed of it, 1 dilation, tells nothing of disk`,
		`the sensitivity of "pi": its dilation in company was never measured`,
		`the pressure of "pi": nobody beside it was measured`,
		`the sensitivity of "sort": its dilation in company was never measured`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := r.Predict("pi", "sort", "grep"); err != nil {
		t.Errorf("there is no answer for jobs that were not measured: %v", err)
	}
}

func TestFractionsAddUpToAtMostOne(t *testing.T) {
	t.Parallel()
	runs := []fit.Run{
		pair("1", "greedy", 1.9, "probe-cpu", 2.4),
		pair("2", "greedy", 1.7, "probe-disk", 1.8),
	}
	j := find(t, mustFit(t, runs, named()), "greedy")
	if total := j.Sensitivity[0].Value + j.Sensitivity[1].Value; total > 1+1e-6 || total < 0.99 {
		t.Errorf("sensitivities add up to %v, want 1", total)
	}
	if j.Pressure[0].Value > 1 {
		t.Errorf("pressure %v, want at most 1", j.Pressure[0].Value)
	}
	free := named()
	free.Fractions = false
	j = find(t, mustFit(t, runs, free), "greedy")
	if total := j.Sensitivity[0].Value + j.Sensitivity[1].Value; math.Abs(total-1.6) > 0.03 || math.Abs(j.Pressure[0].Value-1.4) > 0.03 {
		t.Errorf("free of the bounds: sensitivities add up to %v, pressure %v; want 1.6 and 1.4", total, j.Pressure[0].Value)
	}
}

func TestABeliefYieldsToObservationsByItsWeight(t *testing.T) {
	t.Parallel()
	values := map[float64]float64{}
	for _, weight := range []float64{0.1, 1, 100} {
		o := named()
		o.Beliefs["grep"] = fit.Belief{Sensitivity: []float64{0.2, 0.2}, Weight: weight}
		r := mustFit(t, []fit.Run{pair("1", "grep", 1.6, "probe-cpu", 1.6), pair("2", "grep", 1.2, "probe-disk", 1.2)}, o)
		values[weight] = find(t, r, "grep").Sensitivity[0].Value
	}
	if !(values[0.1] > 0.55 && values[1] < values[0.1] && values[100] < values[1] && values[100] < 0.22) {
		t.Errorf("CPU loading by weight of the belief in 0.2 beside a measured 0.6: %v", values)
	}
}

// Without noise any dilation is reproduced, even those of companies that were
// never seen, though the resources are hidden.
func TestHiddenResourcesExplainExactData(t *testing.T) {
	t.Parallel()
	w := truth{jobs: 20, resources: 2, pairs: 0.9}.world(2)
	r := mustFit(t, w.runs(), fit.Options{})
	if got := len(r.Resources); got != 2 || !r.Hidden || r.Resources[0] != "r1" {
		t.Fatalf("resources %v, want r1 and r2", r.Resources)
	}
	for j := range w.jobs {
		for k := range w.jobs {
			got, err := r.Predict(job(j), job(k), job((j+k)%w.jobs))
			if err != nil {
				t.Fatal(err)
			}
			// The pull of 0.01 observations moves them by that order.
			if want := w.dilations([]int{j, k, (j + k) % w.jobs})[0]; math.Abs(got[0].Value/want-1) > 0.02 {
				t.Errorf("%d beside %d: %.4f, want %.4f", j, k, got[0].Value, want)
			}
		}
	}
}

func TestSymmetricJobsGiveThePaperBack(t *testing.T) {
	t.Parallel()
	w := truth{jobs: 12, resources: 2, symmetric: true, pairs: 1, noise: 0.02}.world(4)
	r := mustFit(t, w.runs(), fit.Options{})
	if !r.Symmetric {
		t.Fatalf("pressures were taken to differ from sensitivities: %+v", r.Candidates[r.Chosen])
	}
	for _, j := range r.Jobs {
		for i := range r.Resources {
			if j.Sensitivity[i] != j.Pressure[i] {
				t.Errorf("%s at %s: sensitivity %v, pressure %v", j.Name, r.Resources[i], j.Sensitivity[i], j.Pressure[i])
			}
		}
	}
}

func TestOutliersAreReportedAndDoNotPull(t *testing.T) {
	t.Parallel()
	w := truth{jobs: 12, resources: 1, pairs: 1, noise: 0.02}.world(5)
	runs := w.runs()
	runs[20].Members[0].Dilation *= 3
	runs[50].Members[1].Dilation *= 0.5
	r := mustFit(t, runs, fit.Options{})
	if len(r.Outliers) != 2 {
		t.Fatalf("outliers %v, want the two that were made", r.Outliers)
	}
	for _, o := range r.Outliers {
		if made := o.Run == runs[20].Name && o.Job == runs[20].Members[0].Job && o.Deviations > 0 ||
			o.Run == runs[50].Name && o.Job == runs[50].Members[1].Job && o.Deviations < 0; !made {
			t.Errorf("%v is none that was made", o)
		}
	}
	if r.Quality.Noise < 0.01 || r.Quality.Noise > 0.03 {
		t.Errorf("noise %v, want 0.02", r.Quality.Noise)
	}
}

func TestContradictionsAreReported(t *testing.T) {
	t.Parallel()
	w := truth{jobs: 8, resources: 1, pairs: 1, noise: 0.02}.world(6)
	runs := append(w.runs(), pair("again", job(1), 9, job(2), 0))
	r := mustFit(t, runs, fit.Options{})
	if len(r.Contradictions) != 1 {
		t.Fatalf("contradictions %v, want one", r.Contradictions)
	}
	c := r.Contradictions[0]
	if c.Job != job(1) || c.Company[0] != job(2) || c.Most != 9 || c.Runs[1] != "again" {
		t.Errorf("got %v", c)
	}
}

func TestJobsThatNoChainOfRunsLinksAreNamed(t *testing.T) {
	t.Parallel()
	r := mustFit(t, []fit.Run{
		pair("1", "a", 1.5, "a", 1.5), pair("2", "a", 1.4, "b", 1.7), pair("3", "b", 1.9, "b", 1.9),
		pair("4", "x", 1.2, "x", 1.2), pair("5", "x", 1.3, "y", 1.4), pair("6", "y", 1.6, "y", 1.6),
	}, fit.Options{})
	for _, u := range r.Unidentified {
		if u.Quantity == "link" && strings.Contains(u.Reason, "the sensitivity of x, y and the pressure of x, y with the other jobs") {
			return
		}
	}
	t.Errorf("nothing says that a, b and x, y never met: %v", r.Unidentified)
}

func TestFewerObservationsThanUnknownsStillHaveAnAnswer(t *testing.T) {
	t.Parallel()
	runs := []fit.Run{{Name: "1", Members: []fit.Member{{Job: "a", Dilation: 1.8}, {Job: "b"}, {Job: "c"}}}}
	r := mustFit(t, runs, fit.Options{})
	got, err := r.Predict("a", "b", "c")
	if err != nil || math.Abs(got[0].Value-1.8) > 0.05 {
		t.Errorf("the one observation is %v in the fit (%v)", got, err)
	}
	if len(r.Unidentified) < 4 {
		t.Errorf("only %v are unidentified", r.Unidentified)
	}
}

func TestJobsThatDoNotContendAreNotDilated(t *testing.T) {
	t.Parallel()
	r := mustFit(t, []fit.Run{pair("1", "a", 1, "b", 1), pair("2", "a", 0.99, "c", 1), pair("3", "b", 1, "c", 0.98)}, fit.Options{})
	got, err := r.Predict("a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		if !(e.Value >= 1 && e.Value < 1.01 && e.Low >= 1 && e.High >= e.Value) {
			t.Errorf("dilations %v", got)
		}
	}
}

// Exact mean value analysis plugged in as the solver: its own dilations are fitted to the noise,
// where the first order is clearly off.
func TestAnotherSolverCanBePluggedIn(t *testing.T) {
	t.Parallel()
	w := truth{jobs: 8, resources: 2, symmetric: true, exact: true, pairs: 1, ways: 7, noise: 0.01}.world(8)
	runs := w.runs()
	exact := mustFit(t, runs, fit.Options{Predictors: []fit.Predictor{meanValueAnalysis{}}, MaxResources: 2})
	first := mustFit(t, runs, fit.Options{Predictors: []fit.Predictor{fit.FirstOrder{}}, MaxResources: 2})
	if exact.Solver != "exact" || exact.Quality.Mean > 0.012 || exact.Quality.Mean > 0.8*first.Quality.Mean {
		t.Errorf("mean error with the %s solver %.4f, with the %s %.4f", exact.Solver, exact.Quality.Mean, first.Solver, first.Quality.Mean)
	}
}

func TestLongRunsCountMore(t *testing.T) {
	t.Parallel()
	value := func(long, short float64) float64 {
		o := named()
		r := mustFit(t, []fit.Run{
			{Name: "1", Members: []fit.Member{{Job: "grep", Dilation: 1.4, Seconds: long}, {Job: "probe-cpu"}}},
			{Name: "2", Members: []fit.Member{{Job: "grep", Dilation: 1.6, Seconds: short}, {Job: "probe-cpu"}}},
			{Name: "3", Members: []fit.Member{{Job: "grep", Dilation: 1.2, Seconds: 60}, {Job: "probe-disk"}}},
		}, o)
		return find(t, r, "grep").Sensitivity[0].Value
	}
	if a, b := value(600, 6), value(6, 600); !(a < 0.45 && b > 0.52) {
		t.Errorf("loading %v with the lower dilation observed for longer, %v with the higher", a, b)
	}
}

func TestBadInputIsRefusedByName(t *testing.T) {
	t.Parallel()
	good := []fit.Run{pair("1", "a", 1.5, "b", 1.5)}
	for name, test := range map[string]struct {
		runs    []fit.Run
		options fit.Options
		want    string
	}{
		"nothing measured": {[]fit.Run{pair("1", "a", 0, "b", 0), {Name: "2", Members: []fit.Member{{Job: "a", Dilation: 1}}}}, fit.Options{}, fit.ErrNothingMeasured.Error()},
		"no runs":          {nil, fit.Options{}, fit.ErrNothingMeasured.Error()},
		"a NaN":            {[]fit.Run{pair("1", "a", math.NaN(), "b", 1)}, fit.Options{}, `run "1": job "a": dilation: NaN is not between 0.01 and 1e+06: a dilation is the completion time over the neutral time`},
		"no name":          {[]fit.Run{pair("1", "", 1, "b", 1)}, fit.Options{}, `run "1": job: the name is empty`},
		"no duration":      {[]fit.Run{{Name: "1", Members: []fit.Member{{Job: "a", Seconds: -1}}}}, fit.Options{}, `run "1": job "a": seconds: -1 is not a positive, finite number of seconds (leave it empty where it is not known)`},
		"folds":            {good, fit.Options{Folds: 1}, "folds: 1 is less than 2"},
		"confidence":       {good, fit.Options{Confidence: 95}, "confidence: 95 is not between 0 and 1"},
		"hidden resources": {good, fit.Options{MaxResources: 99}, "maxResources: 99 is not between 1 and 16"},
		"names without beliefs": {
			good,
			fit.Options{Resources: []string{"cpu", "disk"}},
			"resources: nothing is believed of any job at cpu, disk, so they cannot be told apart; give beliefs, or leave the names out",
		},
		"a belief in hidden resources": {good, fit.Options{Beliefs: map[string]fit.Belief{"a": {Sensitivity: []float64{1}}}}, `beliefs["a"]: a belief needs named resources: hidden ones have no meaning before the fit`},
		"another list of resources":    {good, fit.Options{Resources: []string{"cpu", "disk"}, Beliefs: map[string]fit.Belief{"a": {Sensitivity: []float64{1}}}}, `beliefs["a"]: sensitivity: 1 values for 2 resources`},
		"a sum over one": {
			good,
			fit.Options{Fractions: true, Resources: []string{"cpu", "disk"}, Beliefs: map[string]fit.Belief{"a": {Sensitivity: []float64{1, 0.5}}}},
			`beliefs["a"]: sensitivity: 1.5 in all is more than 1: they are fractions of the neutral time`,
		},
		"duplicate names": {good, fit.Options{Resources: []string{"cpu", "cpu"}}, `resources: "cpu" is empty or appears twice`},
	} {
		if _, err := fit.Fit(test.runs, test.options); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	r := mustFit(t, good, fit.Options{})
	if _, err := r.Predict("a", "z"); err == nil || err.Error() != `job "z": is in no run and no belief` {
		t.Errorf("an unknown job: %v", err)
	}
	if _, err := fit.Fit(nil, fit.Options{}); !errors.Is(err, fit.ErrNothingMeasured) {
		t.Errorf("got %v, want ErrNothingMeasured", err)
	}
}
