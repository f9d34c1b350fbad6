package probing_test

import (
	"errors"
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/probing"
	"loadline.dev/loadline/test/oracle"
)

// times returns those of 1 to n copies by Property 1 of the D-factor paper.
func times(n int, neutral, p float64) []probing.CopiesTime {
	list := make([]probing.CopiesTime, n)
	for k := range list {
		list[k] = probing.CopiesTime{Copies: k + 1, Time: neutral * oracle.DilationOfCopies(k+1, p, 1-p)}
	}
	return list
}

// Fig. 7(a) of the paper: Sort, (0.9, 0.1), neutral time 56 s; four copies 193.8 s.
func TestCopiesOfSortGiveBothCandidates(t *testing.T) {
	t.Parallel()
	got, err := probing.Copies([]probing.CopiesTime{{1, 56}, {2, 101.92}, {3, 147.84}, {4, 193.76}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "neutral time", got.Neutral, 56)
	expect(t, "p·p", got.Square, 0.82)
	expect(t, "low", got.Low, 0.1)
	expect(t, "high", got.High, 0.9)
	if !got.Busy || got.Low.Samples != 3 {
		t.Errorf("got %+v", got)
	}
	for _, test := range []struct{ dilation, want float64 }{{1.87, 0.9}, {1.12, 0.1}} {
		p, err := got.Decide(probing.Estimate{Value: test.dilation, Error: 0.03, Samples: 3})
		if err != nil || math.Abs(p.Value-test.want) > 1e-9 {
			t.Errorf("beside a probe with dilation %v: %v, %v, want %v", test.dilation, p, err, test.want)
		}
	}
	if _, err := got.Decide(probing.Estimate{Value: 1.6, Error: 0.5, Samples: 2}); !errors.Is(err, contention.ErrUndecided) {
		t.Errorf("a dilation that allows for both decided: %v", err)
	}
}

// At p = 0.58 and two copies, ±1 % of the dilation leaves p between 0.50 and 0.62.
func TestTheErrorOfCandidatesIsThatOfIllConditionedRoots(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ p, least, most float64 }{
		{0.58, 0.05, 1}, // no scatter: this is conditioning alone
		{0.95, 0, 0.05},
	} {
		var runs []probing.CopiesTime
		for range 50 {
			runs = append(runs, times(2, 78.08, test.p)...)
		}
		got, err := probing.Copies(runs)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "high", got.High, test.p)
		if got.High.Error < test.least || got.High.Error > test.most || got.High.Error != got.Low.Error {
			t.Errorf("p = %v: got %v and %v, want an error from %v to %v", test.p, got.Low, got.High, test.least, test.most)
		}
	}
}

func TestIntervalsOfCandidatesAreWideNearAHalf(t *testing.T) {
	t.Parallel()
	width := func(p float64) float64 {
		runs := []probing.CopiesTime{{1, 1}}
		for n := 2; n <= 5; n++ {
			noise := 1 + 0.01*float64(2*(n%2)-1)
			runs = append(runs, probing.CopiesTime{Copies: n, Time: noise * oracle.DilationOfCopies(n, p, 1-p)})
		}
		got, err := probing.Copies(runs)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.High.Value-p) > got.High.Error || math.Abs(got.Low.Value-(1-p)) > got.Low.Error {
			t.Errorf("p = %v is neither %v nor 1 less %v", p, got.High, got.Low)
		}
		return got.High.Error
	}
	if near, far := width(0.55), width(0.9); near < 2*far {
		t.Errorf("errors are %v at 0.55 and %v at 0.9", near, far)
	}
}

// Two busy copies are simulated; more would dilate each other by more than Property 1
// says.
func TestSimulatedCopiesAreRecovered(t *testing.T) {
	t.Parallel()
	runs := []probing.CopiesTime{{1, 100}}
	for _, d := range rounds(6, 1, 1, []float64{1}, 1e4) { // a probe beside a probe
		runs = append(runs, probing.CopiesTime{Copies: 2, Time: 100 * d.Probe})
	}
	got, err := probing.Copies(runs)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "high", got.High, 1)
	expect(t, "low", got.Low, 0)
}

func TestCopiesThatIdleAreNotBusy(t *testing.T) {
	t.Parallel()
	got, err := probing.Copies([]probing.CopiesTime{{1, 10}, {2, 12}, {3, 14}, {4, 16}})
	if err != nil || got.Busy || math.Abs(got.Square.Value-0.2) > 1e-9 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestBadTimesAreRefusedByName(t *testing.T) {
	t.Parallel()
	for want, bad := range map[string][]probing.CopiesTime{
		"times: none is of one copy: the neutral time is needed":       {{2, 100}},
		"times: none is of several copies: a job alone is not dilated": {{1, 100}},
		"times[1]: copies: 0 is less than 1":                           {{1, 100}, {0, 1}},
		"times[1]: time: NaN is not a positive, finite number":         {{1, 100}, {2, math.NaN()}},
		"times[1]: time: 0 is not a positive, finite number":           {{1, 100}, {2, 0}},
		"times[1]: time: 10 is 0.1 times the neutral time, which is not between 0.8 and 1e+06: a dilation is the time taken in company over the time taken alone, and noise takes it no further below 1": {{1, 100}, {2, 10}},
	} {
		if _, err := probing.Copies(bad); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := (probing.CopiesLoading{}).Decide(probing.Estimate{Value: math.NaN()}); err == nil {
		t.Error("a dilation that is no number decided")
	}
}
