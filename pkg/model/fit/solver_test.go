package fit_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/fit"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
)

func drawJobs(t *rapid.T, most int) [][]float64 {
	const m = 2
	jobs := make([][]float64, rapid.IntRange(0, most).Draw(t, "jobs"))
	for j := range jobs {
		jobs[j] = make([]float64, m)
		left := 1.0
		for i := range m {
			jobs[j][i] = left * rapid.Float64Range(0, 1).Draw(t, "p")
			left -= jobs[j][i]
		}
	}
	return jobs
}

func TestFirstOrderIsTheDFactor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawJobs(t, 8)
		load := price.NewLoad([]int{1, 1})
		for _, v := range p {
			load.Add(loading.Loadings(v...))
		}
		got := make([]float64, len(p))
		fit.FirstOrder{}.Dilations(p, p, got)
		for j, v := range p {
			if want := load.Dilation(loading.Loadings(v...)); math.Abs(got[j]-want) > 1e-12*want {
				t.Fatalf("job %d: %v, want %v", j, got[j], want)
			}
		}
	})
}

func TestSecondOrderIsExactForThreeJobsAndNearForMore(t *testing.T) {
	t.Parallel()
	first, second, count := 0.0, 0.0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawJobs(t, 7)
		exact, one, two := make([]float64, len(p)), make([]float64, len(p)), make([]float64, len(p))
		meanValueAnalysis{}.Dilations(p, p, exact)
		fit.FirstOrder{}.Dilations(p, p, one)
		fit.SecondOrder{}.Dilations(p, p, two)
		for j, want := range exact {
			if len(p) <= 3 && math.Abs(two[j]-want) > 1e-12*want {
				t.Fatalf("job %d of %d: %v, want %v", j, len(p), two[j], want)
			}
			if len(p) > 3 {
				first += math.Abs(one[j]/want - 1)
				second += math.Abs(two[j]/want - 1)
				count++
			}
		}
	})
	if count > 0 && second > 0.4*first {
		t.Errorf("mean errors %.4f and %.4f: the second order is hardly better", first/float64(count), second/float64(count))
	}
}
