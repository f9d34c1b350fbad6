package fit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/fit"
)

// The bar is 3.5 %; it is 3.0 % by default. Nothing was chosen for this file but the
// defaults, which are those of the made-up worlds, too.
func TestUnseenMeasuredPairsArePredictedWithin3Point5Percent(t *testing.T) {
	t.Parallel()
	runs := measuredPairs(t)
	for seed := range uint64(2) {
		held, err := fit.CrossValidate(runs, fit.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: %+v", seed, held.Models)
		ours, paper, linear, constant := held.Models[0], held.Models[1], held.Models[2], held.Models[3]
		if ours.Mean > 0.035 {
			t.Errorf("seed %d: mean error %.4f, want at most 0.035", seed, ours.Mean)
		}
		if len(held.Points) != ours.Count || ours.Count != 612 {
			t.Errorf("seed %d: %d points and %d errors of 612 dilations", seed, len(held.Points), ours.Count)
		}
		// As measured independently, about 18, 21 and 22 %.
		for _, other := range []fit.ModelError{paper, linear, constant} {
			if other.Mean < 0.15 || other.Mean > 0.25 {
				t.Errorf("seed %d: mean error of the %s %.4f, want about 0.2", seed, other.Model, other.Mean)
			}
		}
	}
}

// The same measurements with names that say nothing, in another order of rows and with a
// tenth of them missing, from a file with carriage returns and a mark of the byte order.
func TestMeasuredPairsUnderOtherNamesArePredicted(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var rows []string
	order := random.Perm(25)
	names := map[string]string{}
	for _, r := range measuredPairs(t) {
		for _, m := range r.Members {
			if names[m.Job] == "" {
				names[m.Job] = fmt.Sprintf("工作 %c", 'À'+order[len(names)])
			}
			dilation := fmt.Sprint(m.Dilation)
			if random.Float64() < 0.1 {
				dilation = ""
			}
			rows = append(rows, fmt.Sprintf("%s,%s,%s", r.Name, names[m.Job], dilation))
		}
	}
	random.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
	runs, _, err := fit.Read(strings.NewReader("\ufeffrun,job,dilation\r\n" + strings.Join(rows, "\r\n") + "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := fit.CrossValidate(runs, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("mean error %.4f", held.Models[0].Mean)
	// The bar for all of them is 3.5 %, too.
	if ours := held.Models[0]; ours.Mean > 0.035 || ours.Count < 500 || ours.Count > 600 {
		t.Errorf("mean error %.4f of %d dilations, want at most 0.035 of about 550", ours.Mean, ours.Count)
	}
}

// The mean absolute error of a perfect model is 0.8 times the noise; the rest comes from the small
// number of observations, and from the outliers themselves.
func TestUnseenRunsOfMadeUpWorldsArePredicted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		truth
		within float64
	}{
		"few jobs, one resource, all pairs": {truth{jobs: 10, resources: 1, pairs: 1, noise: 0.02}, 0.025},
		"two resources, 60 % of the pairs":  {truth{jobs: 20, resources: 2, pairs: 0.6, noise: 0.03}, 0.04},
		"an accelerator":                    {truth{jobs: 26, resources: 3, size: 0.8, pairs: 0.8, noise: 0.03}, 0.04},
		"an accelerator, much missing":      {truth{jobs: 26, resources: 2, size: 0.8, pairs: 0.5, noise: 0.03, missing: 0.2}, 0.08},
		"many jobs, few and noisy pairs":    {truth{jobs: 40, resources: 4, pairs: 0.3, noise: 0.05}, 0.06},
		"runs of up to four":                {truth{jobs: 15, resources: 2, pairs: 0.6, ways: 4, noise: 0.03, missing: 0.2}, 0.05},
		"outliers":                          {truth{jobs: 26, resources: 2, size: 0.8, pairs: 0.7, noise: 0.03, outliers: 0.05}, 0.065},
		"runs of up to four, exactly":       {truth{jobs: 15, resources: 2, symmetric: true, exact: true, pairs: 0.7, ways: 4, noise: 0.03}, 0.04},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held, err := fit.CrossValidate(test.world(3).runs(), fit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", held.Models)
			if got := held.Models[0].Mean; got > test.within {
				t.Errorf("mean error %.4f, want at most %v", got, test.within)
			}
			for _, other := range held.Models[2:] {
				if other.Mean < held.Models[0].Mean {
					t.Errorf("the %s is better: %.4f", other.Model, other.Mean)
				}
			}
		})
	}
}

func TestTheSameSeedGivesTheSameAnswer(t *testing.T) {
	t.Parallel()
	runs := truth{jobs: 8, resources: 2, pairs: 0.8, ways: 3, noise: 0.03}.world(1).runs()
	one, err := fit.CrossValidate(runs, fit.Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	other, err := fit.CrossValidate(runs, fit.Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, other); diff != "" {
		t.Error(diff)
	}
}

func TestOneRunIsTooFewToLeaveAnyOut(t *testing.T) {
	t.Parallel()
	alone := fit.Run{Name: "b", Members: []fit.Member{{Job: "x", Dilation: 1}}}
	pair := fit.Run{Name: "a", Members: []fit.Member{{Job: "x", Dilation: 1.5}, {Job: "y"}}}
	_, err := fit.CrossValidate([]fit.Run{alone, pair}, fit.Options{})
	want := "runs: 1 with a measured dilation in company are too few to leave some out; at least 2 are needed"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestALearningCurveFalls(t *testing.T) {
	t.Parallel()
	runs := truth{jobs: 10, resources: 1, pairs: 1, noise: 0.02}.world(6).runs()
	curve, err := fit.LearningCurve(runs, fit.Options{MaxResources: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(curve) != 5 || curve[0].Share != 0.1 || curve[4].Runs != 44 || curve[4].Count != 3*2*11 {
		t.Fatalf("got %+v", curve)
	}
	first, last := curve[0], curve[4]
	if last.Mean > first.Mean || last.Mean > 0.03 || last.Worst < last.P90 || last.P90 < last.Mean {
		t.Errorf("from %+v to %+v", first, last)
	}
	if _, err := fit.LearningCurve(runs[:2], fit.Options{}); !errors.Is(err, fit.ErrTooFewRuns) {
		t.Errorf("with two runs: %v", err)
	}
	if _, err := fit.LearningCurve(runs, fit.Options{Folds: 1}); err == nil {
		t.Error("bad options are accepted")
	}
}

// 25 jobs, 306 pairs: five folds, each with five inner folds that choose the model, for our model
// and the D-factor. The bar is 10 s on one core.
func BenchmarkCrossValidate(b *testing.B) {
	runs := measuredPairs(b)
	for b.Loop() {
		held, err := fit.CrossValidate(runs, fit.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*held.Models[0].Mean, "error-%")
	}
}

func BenchmarkFit(b *testing.B) {
	runs := measuredPairs(b)
	for b.Loop() {
		if _, err := fit.Fit(runs, fit.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
