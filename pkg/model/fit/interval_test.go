package fit_test

import (
	"fmt"
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/fit"
)

// estimates returns the estimates of every pair and every job of a fit.
func estimates(t *testing.T, r *fit.Result) map[string]fit.Estimate {
	t.Helper()
	all := map[string]fit.Estimate{}
	for _, j := range r.Jobs {
		if len(r.Jobs) > 1 {
			all[j.Name+" is dilated"], all[j.Name+" dilates"] = *j.Dilated, *j.Dilates
		}
		for i, resource := range r.Resources {
			all[j.Name+"'s sensitivity to "+resource], all[j.Name+"'s pressure on "+resource] = j.Sensitivity[i], j.Pressure[i]
		}
		for _, k := range r.Jobs {
			got, err := r.Predict(j.Name, k.Name)
			if err != nil {
				t.Fatal(err)
			}
			all[j.Name+" beside "+k.Name] = got[0]
		}
	}
	return all
}

func TestNoIntervalIsToldWhereObservationsAreNoMoreThanUnknowns(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string][]fit.Run{
		"one run of two jobs":    {pair("1", "a", 1.5, "b", 1.4)},
		"one run of three jobs":  {{Name: "1", Members: []fit.Member{{Job: "a", Dilation: 1.8}, {Job: "b"}, {Job: "c", Dilation: 1.2}}}},
		"a chain of three jobs":  {pair("1", "a", 1.5, "b", 1.4), pair("2", "b", 1.3, "c", 1.7)},
		"one job with itself":    {pair("1", "a", 1.5, "a", 1.5)},
		"no job suffers":         {pair("1", "a", 1, "b", 1)},
		"one dilation is beyond": {pair("1", "a", 400, "b", 1)},
	} {
		for what, e := range estimates(t, mustFit(t, runs, fit.Options{})) {
			if e.Unknown == "" || !math.IsInf(e.High, 1) || e.Low > e.Value {
				t.Errorf("%s: %s: interval %v, want none", name, what, e)
			}
		}
	}
}

// Two groups of jobs that never met: the effect of one on the other cannot be estimated, effects
// within each can.
func TestNoIntervalIsToldAcrossGroupsThatNeverMet(t *testing.T) {
	t.Parallel()
	var runs []fit.Run
	w := truth{jobs: 10, resources: 1, noise: 0.02}.world(4)
	for first := range 2 {
		for j := first * 5; j < first*5+5; j++ {
			for k := j; k < first*5+5; k++ {
				runs = append(runs, w.run(fmt.Sprint(j, k), j, k))
			}
		}
	}
	r := mustFit(t, runs, fit.Options{MaxResources: 1})
	if r.Symmetric {
		t.Fatal("symmetric jobs need no link")
	}
	for j := range w.jobs {
		for k := range w.jobs {
			got, err := r.Predict(job(j), job(k))
			if err != nil {
				t.Fatal(err)
			}
			if met := j/5 == k/5; met != (got[0].Unknown == "") {
				t.Errorf("%d beside %d: %+v", j, k, got[0])
			}
		}
	}
}

func TestVectorsAtSeveralHiddenResourcesHaveNoIntervals(t *testing.T) {
	t.Parallel()
	r := mustFit(t, truth{jobs: 12, resources: 2, size: 0.8, pairs: 1, noise: 0.02}.world(1).runs(), fit.Options{})
	if len(r.Resources) < 2 {
		t.Fatalf("resources %v, want several", r.Resources)
	}
	for _, j := range r.Jobs {
		for i := range r.Resources {
			if j.Sensitivity[i].Unknown == "" || j.Pressure[i].Unknown == "" {
				t.Errorf("%s: %+v %+v", j.Name, j.Sensitivity[i], j.Pressure[i])
			}
		}
		for _, e := range []*fit.Estimate{j.Dilated, j.Dilates} {
			if e.Unknown != "" || !(e.Low < e.Value && e.Value < e.High) {
				t.Errorf("%s: mean dilation %+v", j.Name, e)
			}
		}
	}
}

// Beyond some hundred jobs intervals leave out how jobs depend on each other;
// they must still be there, and finite.
func TestManyJobsHaveIntervals(t *testing.T) {
	t.Parallel()
	w := truth{jobs: 650, resources: 1, noise: 0.03}.world(9)
	var runs []fit.Run
	for j := range w.jobs {
		for step := 1; step <= 3; step++ {
			runs = append(runs, w.run(fmt.Sprint(j, step), j, (j+step*step)%w.jobs))
		}
	}
	r := mustFit(t, runs, fit.Options{MaxResources: 1, Predictors: []fit.Predictor{fit.FirstOrder{}}})
	got, err := r.Predict(job(0), job(300))
	if err != nil {
		t.Fatal(err)
	}
	if e := got[0]; !(e.Low < e.Value && e.Value < e.High && e.High < 10) {
		t.Errorf("interval %v", e)
	}
}
