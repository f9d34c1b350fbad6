package fairshare_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// spread returns the largest and the mean relative error of Monte Carlo over the
// workloads, each a mean over some seeds.
func spread(t *testing.T, tree *fairshare.Tree, samples int) (largest, mean float64) {
	t.Helper()
	exact := solve(t, tree, fairshare.Options{})
	const seeds = 20
	for seed := range uint64(seeds) {
		r := solve(t, tree, fairshare.Options{Method: fairshare.MonteCarlo, Samples: samples, Seed: seed})
		worst := 0.0
		for w, want := range exact.Factors {
			off := math.Abs(r.Factors[w]/want - 1)
			worst = max(worst, off)
			mean += off / seeds / float64(tree.Len())
		}
		largest += worst / seeds
	}
	return largest, mean
}

// Figs. 4 and 5 of the paper: errors of Monte Carlo by samples for 11 workloads, and by
// workloads for 5000 samples, in the model of Section 2. The paper does not say how busy
// its processor was; in Section 2 it is 60 % and 90 %.
func figures(t *testing.T) [][]string {
	t.Helper()
	rows := [][]string{{"figure", "utilization", "workloads", "samples", "largest_error", "mean_error"}}
	add := func(figure int, total float64, workloads, samples int) {
		largest, mean := spread(t, build(t, inverseSquares(workloads, total)...), samples)
		rows = append(rows, []string{
			fmt.Sprint(figure), fmt.Sprint(total), fmt.Sprint(workloads), fmt.Sprint(samples),
			fmt.Sprintf("%.4f", largest), fmt.Sprintf("%.4f", mean),
		})
	}
	for _, total := range []float64{0.6, 0.9} {
		for _, samples := range []int{500, 1000, 2000, 4000, 8000, 16000} {
			add(4, total, 11, samples)
		}
	}
	for _, total := range []float64{0.6, 0.9} {
		for workloads := 5; workloads <= 40; workloads += 5 {
			add(5, total, workloads, 5000)
		}
	}
	return rows
}

func TestFigures4And5AreAsRecorded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f, err := os.Open("../../../test/testdata/fairshare/figures.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := figures(t)
	for i := range got {
		if i >= len(want) || fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Errorf("row %d is %v, not as recorded", i+1, got[i])
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d rows, %d recorded", len(got), len(want))
	}
}

// What the paper says about the figures: with 2000 samples about 3 % at most and 1.3 % on
// average, which is what a processor 60 % busy gives, and still a few percent for 40
// workloads with 5000.
func TestMonteCarloIsAsGoodAsThePaperSays(t *testing.T) {
	t.Parallel()
	if largest, mean := spread(t, build(t, inverseSquares(11, 0.6)...), 2000); largest > 0.035 || mean > 0.015 {
		t.Errorf("11 workloads, 2000 samples: at most %.2g, on average %.2g", largest, mean)
	}
	for _, total := range []float64{0.6, 0.9} {
		if largest, _ := spread(t, build(t, inverseSquares(40, total)...), 5000); largest > 0.05 {
			t.Errorf("40 workloads, %v busy, 5000 samples: at most %.2g", total, largest)
		}
	}
}
