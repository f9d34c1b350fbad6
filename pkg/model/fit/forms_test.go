package fit_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/fit"
)

// With any form, the excess dilation of a job beside one other is sensitivity times pressure, and
// more company never makes it faster.
func TestFormsDifferInLargerCompanyOnly(t *testing.T) {
	t.Parallel()
	predictors := fit.Predictors()
	for i, p := range predictors {
		if _, saturating := p.(fit.SaturatingSum); saturating {
			predictors[i] = fit.SaturatingSum{Ceiling: 3}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Just(0.), rapid.Float64Range(0, 2))
		n, m := rapid.IntRange(1, 6).Draw(t, "jobs"), rapid.IntRange(1, 3).Draw(t, "resources")
		vectors := func(label string) [][]float64 {
			all := make([][]float64, n)
			for j := range all {
				all[j] = rapid.SliceOfN(number, m, m).Draw(t, label)
			}
			return all
		}
		s, q := vectors("sensitivities"), vectors("pressures")
		dilations := func(p fit.Predictor, jobs int) []float64 {
			into := make([]float64, jobs)
			p.Dilations(s[:jobs], q[:jobs], into)
			return into
		}
		sum, worst := dilations(fit.FirstOrder{}, n), dilations(fit.WorstCompanion{}, n)
		for _, p := range predictors {
			if got := dilations(p, 1)[0]; got != 1 {
				t.Errorf("%s: alone %v", p.Name(), got)
			}
			if n > 1 {
				want := 1.0
				for i := range m {
					want += s[0][i] * q[1][i]
				}
				// Rounding only.
				if got := dilations(p, 2)[0]; math.Abs(got-want) > 1e-9*want {
					t.Errorf("%s: in a pair %v, want %v", p.Name(), got, want)
				}
			}
			if _, second := p.(fit.SecondOrder); second {
				continue // where pressures are not sensitivities it may be beyond these bounds
			}
			for j, got := range dilations(p, n) {
				if !(got >= worst[j]*(1-1e-9) && got <= sum[j]*(1+1e-9)) {
					t.Errorf("%s: %v is not between the worst companion, %v, and the sum, %v", p.Name(), got, worst[j], sum[j])
				}
				if fewer := dilations(p, max(1, n-1)); j < n-1 && got < fewer[j]*(1-1e-9) {
					t.Errorf("%s: %v with one job more, %v without", p.Name(), got, fewer[j])
				}
			}
		}
	})
}

// forms are worlds in which company costs in different ways: nine tenths of all pairs
// and 20 triples are measured with 3 % of noise, and other triples predicted.
var forms = []struct {
	name, want string
	company
}{
	{"what companions cost adds up", "first order", company{12, 1, 0.5, 0.5, 0.03, additive}},
	{"the worst companion counts", "worst companion", company{12, 2, 0.7, 0.8, 0.03, worst}},
	{"what is lost is lost once", "saturating sum", company{12, 1, 0.5, 0.5, 0.03, saturating(1.5)}},
	{"a capacity fills up", "", company{12, 1, 0.5, 0.5, 0.03, hyperbolic(2)}},
	{"costs are pooled", "root sum of squares", company{12, 2, 0.6, 0.6, 0.03, root(2)}},
	{"nothing is lost beyond a limit", "", company{12, 1, 0.5, 0.5, 0.03, capped(1)}},
}

// In each world the triples that no run had are off by at most 10 %, and of the 95 %
// intervals of all worlds together 90 to 99 % hold the truth.
func TestTheFormThatPredictsRunsLeftOutIsChosen(t *testing.T) {
	t.Parallel()
	all := make([]*tally, len(forms))
	t.Run("worlds", func(t *testing.T) {
		t.Parallel()
		for i, w := range forms {
			all[i] = &tally{}
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				mean, seeds := 0.0, max(2, *draws)
				for seed := range uint64(seeds) {
					g := w.draw(*firstSeed + seed)
					r := mustFit(t, g.runs(0.9, 20, 3), fit.Options{})
					if w.want != "" && r.Solver != w.want {
						t.Errorf("%s was chosen, want %s", r.Solver, w.want)
					}
					err, c := g.judge(t, r, 60, 3)
					share, _ := c.coverage()
					t.Logf("seed %d: %s, triples are off by %.1f %%, and %.1f %% of the intervals hold the truth", seed, r.Solver, 100*err, 100*share)
					mean += err / float64(seeds)
					all[i].merge(c)
				}
				if mean > 0.1 {
					t.Errorf("triples are off by %.3f, want at most 0.1", mean)
				}
			})
		}
	})
	t.Cleanup(func() {
		total := &tally{}
		for _, c := range all {
			total.merge(c)
		}
		if share, _ := total.coverage(); share < 0.9 || share > 0.99 {
			t.Errorf("%.3f of the 95 %% intervals of triples hold the truth", share)
		}
	})
}

// Pairs do not determine the cost of a third job: the interval holds its value in each of the
// worlds, and the estimate states the size that it goes beyond.
func TestAGroupLargerThanAnyRunIsSeenWithAtMostThese(t *testing.T) {
	t.Parallel()
	for _, w := range forms {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			g := w.draw(*firstSeed)
			r := mustFit(t, g.runs(0.9, 0, 3), fit.Options{})
			_, c := g.judge(t, r, 60, 3)
			if share, _ := c.coverage(); share < 0.9 {
				t.Errorf("%.3f of the 95 %% intervals hold the truth", share)
			}
			for members, want := range map[int]string{2: "", 3: "seen with at most 2"} {
				got, err := r.Predict([]string{job(0), job(1), job(2)}[:members]...)
				if err != nil {
					t.Fatal(err)
				}
				if got[0].Beyond != want {
					t.Errorf("of %d jobs: %q, want %q", members, got[0].Beyond, want)
				}
			}
		})
	}
}

// Up to four virtual machines fit on the cores; sixteen do not, and take 1.55 times as long.
func TestMachinesThatFittedAreNotPromisedToFitInAnyNumber(t *testing.T) {
	t.Parallel()
	g := company{jobs: 6, rank: 1, spread: 0.3, typical: 0.001, noise: 0.01, combine: additive}.draw(*firstSeed)
	var runs []fit.Run
	for size := 2; size <= 4; size++ {
		for range 10 {
			runs = append(runs, g.run(g.random.Perm(g.jobs)[:size]...))
		}
	}
	r := mustFit(t, runs, fit.Options{})
	if r.Largest != 4 {
		t.Errorf("the largest run has %d jobs, want 4", r.Largest)
	}
	var sixteen []string
	for a := range 16 {
		sixteen = append(sixteen, job(a%g.jobs))
	}
	got, err := r.Predict(sixteen...)
	if err != nil {
		t.Fatal(err)
	}
	const measured = 1.55
	for _, e := range got {
		if e.Beyond != "seen with at most 4" || !(e.Low <= measured && measured <= e.High) {
			t.Errorf("%+v: want an interval that holds %v", e, measured)
		}
	}
}
