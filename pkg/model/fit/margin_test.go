package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// n observations of one mean are worth n − 1 degrees of freedom, and the difference of two such
// means the number of Welch and Satterthwaite, which for equal n is 2(n − 1).
func TestResidualsAreWorthTheirDegreesOfFreedom(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 6, 40} {
		c := &covariance{pull: []float64{1e-12, 1e-12}}
		for i := range 2 * n {
			c.equations = append(c.equations, equation{terms: []term{{i / n, 1}}, weight: 4, leverage: 1 / float64(n)})
		}
		c.invert()
		for name, test := range map[string]struct {
			of   []term
			want float64
		}{
			"a mean":                 {[]term{{0, 1}}, float64(n - 1)},
			"a difference of means":  {[]term{{0, 1}, {1, -1}}, float64(2 * (n - 1))},
			"an uneven mix of means": {[]term{{0, 2}, {1, 1}}, 25. / 17 * float64(n-1)},
		} {
			reach := c.times(test.of)
			share := make([]float64, len(c.equations))
			for i, e := range c.equations {
				r := along(e.terms, reach)
				share[i] = e.weight * r * r
			}
			if got := c.worth(share); math.Abs(got/test.want-1) > 1e-6 {
				t.Errorf("%s of %d: %v degrees of freedom, want %v", name, n, got, test.want)
			}
		}
	}
}

// madeUpPairs are all pairs of some jobs at one resource; the dilations of the
// first have that many times the noise of the others.
func madeUpPairs(seed uint64, jobs int, noise, noisier float64) []Run {
	random := rand.New(rand.NewPCG(seed, 42))
	s, q := make([]float64, jobs), make([]float64, jobs)
	for j := range jobs {
		s[j], q[j] = 0.2+random.Float64(), 0.2+random.Float64()
	}
	var runs []Run
	for j := range jobs {
		for k := range j {
			r := Run{Name: fmt.Sprint(j, k)}
			for _, pair := range [][2]int{{j, k}, {k, j}} {
				deviation := noise
				if pair[0] == 0 {
					deviation *= noisier
				}
				r.Members = append(r.Members, Member{
					Job:      fmt.Sprintf("job-%02d", pair[0]),
					Dilation: (1 + s[pair[0]]*q[pair[1]]) * math.Exp(deviation*random.NormFloat64()),
				})
			}
			runs = append(runs, r)
		}
	}
	return runs
}

// The errors of a noisy job are trusted less than their weights in the fit say.
func TestANoisyJobsObservationsStretchFurther(t *testing.T) {
	t.Parallel()
	r, err := Fit(madeUpPairs(1, 16, 0.02, 4), Options{MaxResources: 1})
	if err != nil {
		t.Fatal(err)
	}
	noisy, others, count := 0.0, 0.0, 0.0
	first := len(r.spread.equations) - r.Quality.Observations
	for _, e := range r.spread.equations[first:] {
		if e.terms[0].at == 0 {
			noisy = e.stretch
		} else {
			others += e.stretch
			count++
		}
	}
	if noisy < 1.2*others/count {
		t.Errorf("a stretch of %.3f for the noisy job, %.3f for the others", noisy, others/count)
	}
}

// With a margin of 1.96 standard deviations or more, an interval is at least
// that of the disagreement between models that predict equally well.
func TestIntervalsIncludeHowFarEquallyGoodModelsAreApart(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(4) {
		runs := madeUpPairs(seed, 8, 0.03, 1)
		for _, run := range runs {
			for a, m := range run.Members {
				if m.Job < "job-04" { // alone times that may be wrong
					run.Members[a].Dilation *= 1.1
				}
			}
		}
		r, err := Fit(runs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for a := range r.Jobs {
			for b := range r.Jobs {
				names, members := []string{r.Jobs[a].Name, r.Jobs[b].Name}, []int{a, b}
				got, err := r.Predict(names...)
				if err != nil {
					t.Fatal(err)
				}
				if got[0].Unknown != "" || len(r.rivals) == 0 {
					continue
				}
				compared++
				apart := 0.0 // the root of the mean square
				for _, v := range r.rivals {
					apart = math.Hypot(apart, v.dilations(members, v.predictor)[0]-got[0].Value)
				}
				apart /= math.Sqrt(float64(len(r.rivals) + 1))
				if half := got[0].High - got[0].Value; half < 1.959*apart {
					t.Errorf("seed %d: %v: ± %.4f, where equally good models are %.4f apart", seed, names, half, apart)
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no fit had a model that predicts equally well")
	}
}
