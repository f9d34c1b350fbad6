package comparison

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// By hand: of 1, 2 and 3 the mean is 2, the standard deviation 1 and Student's t for two degrees of freedom 4.3027, so that half of the
// interval is 4.3027/√3.
func TestAnIntervalIsStudents(t *testing.T) {
	t.Parallel()
	if got := IntervalOf([]float64{1, 2, 3}); got.Mean != 2 || math.Abs(got.Half-4.3027/math.Sqrt(3)) > 1e-3 {
		t.Errorf("got %+v", got)
	}
	if got := IntervalOf([]float64{5}); got != (Interval{Mean: 5}) {
		t.Errorf("of one value: %+v", got)
	}
}

// means are the figures of runs with these mean dilations.
func means(of ...float64) (figures []Figures) {
	for _, mean := range of {
		figures = append(figures, Figures{Simulated: Verdict{Mean: mean}, Modelled: Verdict{Mean: 1 + 2*(mean-1)}})
	}
	return figures
}

// The seeds differ by much more than the schedulers do: pairs tell what the means alone would not.
func TestWhatIsSavedIsComparedSeedBySeed(t *testing.T) {
	t.Parallel()
	rows := Summarize([]Runs{
		{"first", means(1.1, 1.5, 3)},
		{"second", means(1.05, 1.25, 2)},
		{"none", means(1, 1, 1)},
	})
	if got := rows[1].Simulated.Saved; math.Abs(got.Mean-0.5) > 1e-9 || got.Half > 1e-9 {
		t.Errorf("half of the excess is saved with each seed, and it is %+v", got)
	}
	if got := rows[2].Simulated.Saved; math.Abs(got.Mean-1) > 1e-9 || rows[0].Simulated.Saved.Mean != 0 {
		t.Errorf("all of it is saved, and it is %+v; of itself the first saves %+v", got, rows[0].Simulated.Saved)
	}
	if got := saved(&Verdict{Mean: 1.2}, &Verdict{Mean: 1}); got != 0 {
		t.Errorf("there is none to save, and %v is saved", got)
	}
}

func TestATableSaysWhatWasCompared(t *testing.T) {
	t.Parallel()
	rows := Summarize([]Runs{
		{"kube-scheduler", []Figures{{
			Placed: 1004, Nodes: 100, Simulated: Verdict{Mean: 1.278, P95: 2.43, Worst: 4.61, Violations: 283.7}, Modelled: Verdict{Mean: 1.5},
		}}},
		{"loadline", []Figures{{Placed: 1004, Nodes: 100, Simulated: Verdict{Mean: 1.008, P95: 1.02, Worst: 1.05}, Modelled: Verdict{Mean: 1.25, P95: 2, Worst: 3}}}},
	})
	var out bytes.Buffer
	if err := WriteTable(&out, rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for line, want := range map[int]string{
		3: "loadline 1,004 0.00 100.0 simulation 1.008× 1.02× 1.05× 0.0 97%",
		4: "model 1.250× 2.00× 3.00× 0.0 50%",
	} {
		if got := strings.Join(strings.Fields(lines[line]), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	want := "From kube-scheduler to loadline: mean dilation 1.28× → 1.01×, worst 4.61× → 1.05×, SLA violations 284 → 0 of 1,004 pods at any moment."
	if got := Headline(&rows[0], &rows[1]); got != want {
		t.Errorf("got %q", got)
	}
}
