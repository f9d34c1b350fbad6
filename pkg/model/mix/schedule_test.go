package mix_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// Table 3 and Fig. 8 of the D-factor paper: the machine of its own schedule,
// and the machine of the list scheduler, on which one CPU is all that counts.
func TestCompletionsReproduceFig8(t *testing.T) {
	cpu, io := loading.Loadings(1, 0), loading.Loadings(0, 1)
	tests := map[string]struct {
		runs []mix.Run
		want []float64
	}{
		"W1, W2 and later W4": {
			[]mix.Run{{0, 110.56, cpu}, {0, 115.83, io}, {60, 110.56, cpu}},
			[]float64{161.12, 115.83, 221.12},
		},
		"W3 alone":         {[]mix.Run{{0, 180, cpu}}, []float64{180}},
		"W3 and later W4":  {[]mix.Run{{0, 180, cpu}, {60, 110.56, cpu}}, []float64{290.56, 281.12}},
		"no jobs":          {nil, nil},
		"a job of no work": {[]mix.Run{{5, 0, cpu}, {5, 1, cpu}}, []float64{5, 6}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := mix.Completions(test.runs, []int{1, 1})
			if err != nil {
				t.Fatal(err)
			}
			for j := range test.want {
				if math.Abs(got[j]-test.want[j]) > 1e-9 {
					t.Errorf("run %d completes at %.4f, want %.4f", j, got[j], test.want[j])
				}
			}
		})
	}
}

func TestTwoJobsThatStartTogetherFollowThePapersFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0, 1).Draw(t, "a")
		b := rapid.Float64Range(0, 1).Draw(t, "b")
		long := rapid.Float64Range(10, 20).Draw(t, "long")
		short := rapid.Float64Range(0.1, 9.9).Draw(t, "short")
		got, err := mix.Completions([]mix.Run{
			{0, long, loading.Loadings(a, 1-a)}, {0, short, loading.Loadings(b, 1-b)},
		}, []int{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		dilation := 1 + a*b + (1-a)*(1-b)
		wantShort := dilation * short
		wantLong := wantShort + (1-short/long)*long
		if math.Abs(got[1]-wantShort) > 1e-9 || math.Abs(got[0]-wantLong) > 1e-9 {
			t.Fatalf("completions %v, the paper gives %v and %v", got, wantLong, wantShort)
		}
	})
}

// Theorem 1: on one busy resource the last completion is the sum of the neutral
// times, whenever jobs start, so long as the machine is never empty.
func TestOneBusyResourceIsLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := []mix.Run{{0, 100, loading.Loadings(1)}}
		sum := 100.0
		for range rapid.IntRange(0, 10).Draw(t, "n") {
			r := mix.Run{
				Start:   rapid.Float64Range(0, 99).Draw(t, "start"),
				Neutral: rapid.Float64Range(0, 50).Draw(t, "neutral"),
				Vector:  loading.Loadings(1),
			}
			sum += r.Neutral
			runs = append(runs, r)
		}
		completions, err := mix.Completions(runs, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for j, c := range completions {
			last = max(last, c)
			if c < runs[j].Start+runs[j].Neutral-1e-9 {
				t.Fatalf("run %d completes at %v, before its neutral time is over", j, c)
			}
		}
		if math.Abs(last-sum) > 1e-7 {
			t.Fatalf("the last job completes at %v, Theorem 1 gives %v", last, sum)
		}
	})
}

func TestCompletionsRefuseBadInput(t *testing.T) {
	cpu := loading.Loadings(1)
	for name, test := range map[string]struct {
		run  mix.Run
		want string
	}{
		"a start that is NaN":     {mix.Run{math.NaN(), 1, cpu}, "run 0: start: NaN is not a finite time"},
		"a negative neutral time": {mix.Run{0, -1, cpu}, "run 0: neutral: -1 is not a finite time of at least 0"},
		"an endless job":          {mix.Run{0, math.Inf(1), cpu}, "run 0: neutral: +Inf is not a finite time of at least 0"},
		"a bad vector":            {mix.Run{0, 1, loading.Loadings(-1)}, "run 0: resource 0: loading: -1 is not a fraction from 0 to 1"},
		"an unknown resource":     {mix.Run{0, 1, loading.Loadings(0, 0)}, "run 0: 2 demands for 1 resources"},
	} {
		if _, err := mix.Completions([]mix.Run{test.run}, []int{1}); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// Four equal jobs that use only the CPU take four times as long by every solver; mixed jobs
// distinguish the solvers.
func TestCompletionsFollowTheSolver(t *testing.T) {
	cpu := loading.Loadings(1)
	for _, solver := range []queueing.Solver{queueing.Auto, queueing.FirstOrder, queueing.Schweitzer, queueing.Linearizer, queueing.Exact} {
		got, err := mix.CompletionsBy([]mix.Run{{0, 1, cpu}, {0, 1, cpu}, {0, 1, cpu}, {0, 1, cpu}}, []int{1}, queueing.Options{Solver: solver})
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range got {
			if math.Abs(c-4) > 1e-4 { // the tolerance of the iterations, ten times
				t.Errorf("%v: run %d completes at %v, want 4", solver, j, c)
			}
		}
	}

	// Epochs, Table 1: J2 arrives at 3, J1 has half of its (2, 4) seconds left.
	runs := []mix.Run{{0, 6, loading.Loadings(1.0/3, 2.0/3)}, {3, 8, loading.Loadings(3.0/8, 5.0/8)}}
	got, err := mix.CompletionsBy(runs, []int{1, 1}, queueing.Options{Solver: queueing.Schweitzer, Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{7.69, 12.67} { // reset makes room for some classes, and finds the least share of each.
		if math.Abs(got[j]-want) > 0.01 {
			t.Errorf("J%d completes at %.4f, want %.2f", j+1, got[j], want)
		}
	}
}

// The definition, with no cache and no shortcut: predict the mix, go on to the next event, subtract
// the work done.
func TestCompletionsFollowTheirDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		servers := modeltest.DrawServers(t, m, 3)
		options := queueing.Options{Solver: queueing.Schweitzer, Tolerance: 1e-12, Iterations: 10_000}
		var runs []mix.Run
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			runs = append(runs, mix.Run{
				Start:   float64(rapid.IntRange(-5, 5).Draw(t, "start")),
				Neutral: rapid.Float64Range(0, 5).Draw(t, "neutral"),
				Vector:  modeltest.DrawVector(t, m, 2),
			})
		}
		got, err := mix.CompletionsBy(runs, servers, options)
		if err != nil {
			t.Fatal(err)
		}
		want := naiveCompletions(t, runs, servers, options)
		for j := range runs {
			if math.Abs(got[j]-want[j]) > 1e-7 {
				t.Fatalf("run %d completes at %v, want %v", j, got[j], want[j])
			}
		}
	})
}

func naiveCompletions(t *rapid.T, runs []mix.Run, servers []int, options queueing.Options) []float64 {
	left, ends := make([]float64, len(runs)), make([]float64, len(runs))
	for j, r := range runs {
		left[j], ends[j] = r.Neutral, math.Inf(1)
	}
	now := -5.0
	for {
		var running []int
		var mix []loading.Vector
		next, starts := math.Inf(1), false
		for j, r := range runs {
			switch {
			case r.Start > now:
				next, starts = min(next, r.Start), true
			case math.IsInf(ends[j], 1):
				running, mix = append(running, j), append(mix, r.Vector)
			}
		}
		if len(running) == 0 && !starts {
			return ends
		}
		prediction, err := contention.Predict(mix, servers, options)
		if err != nil {
			t.Fatal(err)
		}
		for k, j := range running {
			next = min(next, now+left[j]*prediction.Dilations[k])
		}
		for k, j := range running {
			left[j] -= (next - now) / prediction.Dilations[k]
			if left[j] < 1e-12 {
				ends[j] = next
			}
		}
		now = next
	}
}
