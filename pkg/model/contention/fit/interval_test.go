package fit_test

import (
	"fmt"
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/contention/fit"
)

// 95 % intervals of dilations over many worlds. They are asymptotic and the
// number of resources is itself chosen from the data, so a few percent are lost.
func TestIntervalsOfDilationsCover(t *testing.T) {
	t.Parallel()
	inside, all := 0, 0
	for seed := range uint64(12) {
		w := truth{jobs: 12, resources: 1 + int(seed%2), pairs: 0.9, noise: 0.04}.world(100 + seed)
		r := mustFit(t, w.runs(), fit.Options{Seed: seed})
		for j := range w.jobs {
			for k := range w.jobs {
				got, err := r.Predict(job(j), job(k))
				if err != nil {
					t.Fatal(err)
				}
				want := w.dilations([]int{j, k})[0]
				if got[0].Low <= want && want <= got[0].High {
					inside++
				}
				all++
			}
		}
	}
	if share := float64(inside) / float64(all); share < 0.88 || share > 0.99 {
		t.Errorf("%.3f of %d true dilations lie in their 95 %% intervals", share, all)
	}
}

// 95 % intervals of loadings at named resources, of three observations each. The
// pull towards the average job, which is not what these were drawn by, costs
// some coverage.
func TestIntervalsOfNamedLoadingsCover(t *testing.T) {
	t.Parallel()
	inside, all := 0, 0
	for seed := range uint64(12) {
		w := truth{jobs: 10, resources: 2, noise: 0.03}.world(200 + seed)
		// The last two jobs are the probes.
		w.sensitivity[8], w.pressure[8] = []float64{1, 0}, []float64{1, 0}
		w.sensitivity[9], w.pressure[9] = []float64{0, 1}, []float64{0, 1}
		o := fit.Options{Resources: []string{"cpu", "disk"}, Beliefs: map[string]fit.Belief{
			job(8): {Sensitivity: []float64{1, 0}, Weight: math.Inf(1)},
			job(9): {Sensitivity: []float64{0, 1}, Weight: math.Inf(1)},
		}}
		var runs []fit.Run
		for j := range 8 {
			for again := range 3 {
				runs = append(runs, w.run(fmt.Sprint(j, again, "cpu"), j, 8), w.run(fmt.Sprint(j, again, "disk"), j, 9))
			}
		}
		r := mustFit(t, runs, o)
		for j := range 8 {
			fitted := find(t, r, job(j))
			for i := range 2 {
				for _, x := range []struct {
					e    fit.Estimate
					want float64
				}{{fitted.Sensitivity[i], w.sensitivity[j][i]}, {fitted.Pressure[i], w.pressure[j][i]}} {
					if x.e.Low <= x.want && x.want <= x.e.High {
						inside++
					}
					all++
				}
			}
		}
	}
	if share := float64(inside) / float64(all); share < 0.87 || share > 0.99 {
		t.Errorf("%.3f of %d true loadings lie in their 95 %% intervals", share, all)
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
