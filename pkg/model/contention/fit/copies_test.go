package fit_test

import (
	"errors"
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/contention/fit"
	"loadline.dev/loadline/test/oracle"
)

// Fig. 7(a) of the D-factor paper, by its formula: 2, 3 and 4 copies of Sort,
// (0.9, 0.1), neutral time 56 s.
func TestCopiesOfSortGiveBothRootsOfItsVector(t *testing.T) {
	t.Parallel()
	got, err := fit.Copies([]fit.CopyRun{{1, 1}, {2, 101.92 / 56}, {3, 147.84 / 56}, {4, 193.76 / 56}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Square.Value-0.82) > 1e-9 || math.Abs(got.Low.Value-0.1) > 1e-9 || math.Abs(got.High.Value-0.9) > 1e-9 || !got.Busy {
		t.Errorf("got %+v, want p·p = 0.82 and the roots 0.1 and 0.9", got)
	}
	for _, test := range []struct {
		other    [2]float64
		dilation float64
		want     float64
	}{{[2]float64{1, 0}, 1.9, 0.9}, {[2]float64{1, 0}, 1.13, 0.1}, {[2]float64{0.2, 0.8}, 1.27, 0.9}} {
		p, err := got.Decide(test.other, test.dilation)
		if err != nil || math.Abs(p.Value-test.want) > 1e-9 {
			t.Errorf("beside %v with dilation %v: %v, %v; want %v", test.other, test.dilation, p.Value, err, test.want)
		}
	}
	if _, err := got.Decide([2]float64{0.51, 0.49}, 1.5); !errors.Is(err, contention.ErrUndecided) {
		t.Errorf("an even neighbour decided: %v", err)
	}
}

func TestIntervalsOfRootsAreWideNearAHalf(t *testing.T) {
	t.Parallel()
	width := func(p float64) float64 {
		var runs []fit.CopyRun
		for n := 2; n <= 5; n++ {
			noise := 1 + 0.01*float64(2*(n%2)-1)
			runs = append(runs, fit.CopyRun{Copies: n, Dilation: noise * oracle.DilationOfCopies(n, p, 1-p)})
		}
		got, err := fit.Copies(runs, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if !(got.High.Low <= p && p <= got.High.High && got.Low.Low <= 1-p && 1-p <= got.Low.High) {
			t.Errorf("p = %v is not in %v", p, got.High)
		}
		return got.High.High - got.High.Low
	}
	if near, far := width(0.55), width(0.9); near < 2*far {
		t.Errorf("intervals are %v wide at 0.55 and %v at 0.9", near, far)
	}
}

func TestCopiesThatHardlyContendAreNotBusy(t *testing.T) {
	t.Parallel()
	got, err := fit.Copies([]fit.CopyRun{{2, 1.2}, {3, 1.4}, {4, 1.6}}, 0.95)
	if err != nil || got.Busy || math.Abs(got.Square.Value-0.2) > 1e-9 || got.Low.Value != 0.5 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestBadCopyRunsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for want, runs := range map[string][]fit.CopyRun{
		"runs: none has two or more copies: a job alone tells nothing of its loading":                                  {{1, 1}},
		"runs[1]: copies: 0 is less than 1":                                                                            {{2, 1.5}, {0, 1}},
		"runs[0]: dilation: -1 is not between 0.01 and 1e+06: a dilation is the completion time over the neutral time": {{2, -1}},
	} {
		if _, err := fit.Copies(runs, 0.95); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
