package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/fit"
)

// Any dilations of sixteen jobs are those of vectors at sixteen resources, and those of more jobs of few kinds are nearly.
func TestDilationsOfPairsAreThoseOfVectors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		jobs, kinds int
		spread      float64 // of the logarithm of the cost of company
		within      float64
	}{
		"as many jobs as resources":   {16, 16, 1, 0.01},
		"dilations to a hundred":      {16, 16, 2, 0.01},
		"nothing slows anything down": {8, 8, 0, 1e-9},
		"forty jobs of ten kinds":     {40, 10, 1, 0.01},
		"forty jobs of sixteen kinds": {40, 16, 1, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, uint64(test.jobs)))
			cost := make([][]float64, test.kinds)
			for a := range cost {
				for range cost {
					cost[a] = append(cost[a], 0.5*math.Exp(test.spread*random.NormFloat64()))
				}
			}
			pairs := make([][]float64, test.jobs)
			for j := range pairs {
				for k := range pairs {
					dilation := 1.0
					if test.spread > 0 {
						dilation += cost[j%test.kinds][k%test.kinds]
					}
					pairs[j] = append(pairs[j], dilation)
				}
			}
			worst := 0.0
			for j, row := range fit.FactorizedPairs(pairs, 16) {
				for k, found := range row {
					worst = max(worst, math.Abs(found/pairs[j][k]-1))
				}
			}
			t.Logf("off by %.2f %% at most", 100*worst)
			if worst > test.within {
				t.Errorf("off by %.2f %% at most, want %.2f %%", 100*worst, 100*test.within)
			}
		})
	}
}

// A correction may say that a job is faster beside another one than alone. Then it is faster alone.
func TestVectorsOfAJobThatCompanyMakesFasterHaveAnotherAloneTime(t *testing.T) {
	t.Parallel()
	r := mustFit(t, truth{jobs: 5, resources: 1, pairs: 1, noise: 0.01}.world(3).runs(), fit.Options{MaxResources: 2})
	r.CorrectAlone(2, 0.6)
	v, err := r.FirstOrder(16)
	if err != nil {
		t.Fatal(err)
	}
	pairs := r.Pairs()
	for j := range pairs {
		for k := range pairs {
			dilation := 1.0
			for i := range v.Resources {
				if v.Sensitivity[j][i] < 0 || v.Pressure[k][i] < 0 || v.Pressure[k][i] > 1 {
					t.Errorf("%s: sensitivity %v, pressure %v", v.Resources[i], v.Sensitivity[j][i], v.Pressure[k][i])
				}
				dilation += v.Sensitivity[j][i] * v.Pressure[k][i]
			}
			got, want := dilation*v.Baseline[j], pairs[j][k]*r.Jobs[j].Baseline.Value
			if math.Abs(got/want-1) > 0.01 {
				t.Errorf("%d beside %d: %v, want %v", j, k, got, want)
			}
		}
	}
	if v.Baseline[2] >= 1 || v.Baseline[1] != 1 {
		t.Errorf("baselines %v", v.Baseline)
	}
}

func TestVectorsOfTooManyJobsAtTooManyResourcesAreRefused(t *testing.T) {
	t.Parallel()
	var runs []fit.Run
	for j := range 201 {
		runs = append(runs, pair(fmt.Sprint(j), job(j), 1.5, job((j+1)%201), 1.3))
	}
	r := mustFit(t, runs, fit.Options{MaxResources: 1, Folds: 2, Predictors: []fit.Predictor{fit.FirstOrder{}}})
	if _, err := r.FirstOrder(1); err != nil {
		t.Errorf("at one resource they are the fit's, and refused: %v", err)
	}
	r.CorrectAlone(0, 2)
	want := "resources: the vectors have 1, and 201 jobs are too many, more than 200, to find others that say what a correction says"
	if _, err := r.FirstOrder(1); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
