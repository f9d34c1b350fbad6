package main

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/experiments/weights/account"
)

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mixes.csv")
	want := []record{
		{1, parsed(t, "100m cpu"), []measured{{0.98, 0.98, 7e8}}},
		{2, parsed(t, "500m 60% exp, 0 cpu x2"), []measured{{0.9, 0.55, 6e8}, {0.1, 0.1, 5e8}}},
	}
	for i := range want {
		if err := want[i].add(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readFile(path)
	if err != nil {
		t.Fatal(err)
	}
	allow := cmp.AllowUnexported(record{}, measured{}, job{})
	if diff := cmp.Diff(want, got, allow); diff != "" {
		t.Error(diff)
	}
	times, err := timesRun(path, 2)
	if err != nil || len(times) != 1 || times["500m 60% exp, 0 cpu x2"] != 1 {
		t.Errorf("on two cores ran %v, %v", times, err)
	}
}

func TestBrokenRecordsAreRefused(t *testing.T) {
	t.Parallel()
	const head = "cores,mix,pod,pace,cpu,speed\n"
	for text, want := range map[string]string{
		"":                               "first line",
		"a,b,c,d,e,f\n":                  "first line",
		head + "1,100m cpu,2,1,1,1\n":    "out of order",
		head + "x,100m cpu,1,1,1,1\n":    "line 2",
		head + "1,100m jazz,1,1,1,1\n":   "jazz",
		head + "1,100m cpu,1,fast,1,1\n": "fast",
	} {
		if _, err := readRecords(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A job that computes for 30 s and sleeps for 20 s took 100 s, another 60 s.
func TestDilationsAreByProcessorTime(t *testing.T) {
	t.Parallel()
	of := func(wall float64) measured {
		return of(account.Account{Parts: []account.Part{{Wall: time.Duration(wall * 1e9), CPU: 30e9, Idle: 20e9, Work: 1e6}}}, false)
	}
	synthetic := parsed(t, "100m 60%")[0]
	if dilation, byClock := synthetic.dilation(of(100), of(50)); math.Abs(dilation-2) > 1e-9 || math.Abs(byClock-2) > 1e-9 {
		t.Errorf("%v, by the clock %v, want 2", dilation, byClock)
	}
	// Alone an operation computes for 0.1 s and waits for 0.1 s. Together it took 0.4 s, on processors that took 0.2 s.
	program := parsed(t, "100m xz")[0]
	dilation, byClock := program.dilation(measured{pace: 2.5, speed: 5}, measured{pace: 5, speed: 10})
	if math.Abs(dilation-4.0/3) > 1e-9 || math.Abs(byClock-2) > 1e-9 {
		t.Errorf("%v, by the clock %v, want 4/3 and 2", dilation, byClock)
	}
}

func TestPredictionsKnowWeightsLimitsAndCoresOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text  string
		cores int
		want  []float64 // closed forms of water-filling
		equal []float64
	}{
		"500m has 512 shares and 50m 51": {"500m cpu, 50m cpu", 1, []float64{563.0 / 512, 563.0 / 51}, []float64{2, 2}},
		"a BestEffort pod has 2":         {"0 cpu, 100m cpu", 1, []float64{104.0 / 2, 104.0 / 102}, []float64{2, 2}},
		"a core of its own":              {"=1 cpu, 100m cpu, 100m cpu", 2, []float64{1, 2, 2}, []float64{1, 2, 2}},
		"one for each":                   {"500m cpu, 50m cpu", 2, []float64{1, 1}, []float64{1, 1}},
		"a pod of two threads":           {"100m cpu x2, 100m cpu", 1, []float64{2, 2}, []float64{1.5, 3}},
		"a pod of two containers":        {"100m+100m cpu, 100m cpu", 1, []float64{1.5, 306.0 / 102}, []float64{1.5, 3}},
	} {
		m := parsed(t, test.text)
		loadings := make([]float64, len(m))
		for i := range m {
			loadings[i] = m[i].loading()
		}
		got, err := predict(m, loadings, test.cores)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m {
			const rounding = 0.005 // shares are whole numbers
			if math.Abs(got[0][i]/test.want[i]-1) > rounding || math.Abs(got[1][i]/test.equal[i]-1) > rounding {
				t.Errorf("%s: %v, want %v and %v", name, got, test.want, test.equal)
			}
		}
	}
}

func TestComparingNeedsEachJobAlone(t *testing.T) {
	t.Parallel()
	together := record{1, parsed(t, "100m cpu, 200m cpu"), []measured{{0.32, 0.32, 1}, {0.65, 0.65, 1}}}
	if _, err := compare([]record{together}); err == nil || !strings.Contains(err.Error(), `"100m cpu" did not run alone on 1 cores`) {
		t.Errorf("%v", err)
	}
	alone := record{1, parsed(t, "100m cpu"), []measured{{1, 1, 1}}}
	all, err := compare([]record{alone, together, {1, together.mix, []measured{{0.34, 0.34, 1}, {0.67, 0.67, 1}}}})
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if want := (1/0.32 + 1/0.34) / 2; math.Abs(all[0].measured[0]-want) > 1e-9 {
		t.Errorf("measured %v, want the mean of both runs, %v", all[0].measured, want)
	}
	var e errorsOf
	e.add(&all[0])
	if e.pods != 2 || e.mean(0) > 0.03 || e.mean(1) < 0.2 {
		t.Errorf("%v", &e)
	}
	var out bytes.Buffer
	if err := compareFiles(&out, nil); err == nil {
		t.Error("comparing no files is no error")
	}
}
