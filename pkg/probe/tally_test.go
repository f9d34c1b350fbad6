package probe

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/probe/result"
)

func TestAUnitUnderWayWhenASampleIsDueCountsInPart(t *testing.T) {
	t.Parallel()
	var account tally
	account.start(100, 10)
	for i, end := range []int64{105, 110, 118, 122, 142} {
		const perUnit = 2000 // nanoseconds of processor time
		account.note(end, perUnit*int64(i+1))
	}
	want := result.Series{Begin: 100, Interval: 10, Thousandths: []int64{0, 2000, 3500, 4400, 4900}}
	if diff := cmp.Diff(want, account.work.series); diff != "" {
		t.Errorf("work: (-want +got):\n%s", diff)
	}
	want.Thousandths = []int64{0, 4, 7, 8, 9} // whole microseconds
	if diff := cmp.Diff(want, account.processor.series); diff != "" {
		t.Errorf("processor time: (-want +got):\n%s", diff)
	}
	if account.units != 5 {
		t.Errorf("%d units, want 5", account.units)
	}
}

func TestASeriesNeverHasTooManySamplesAndItsRateStaysWhatItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Int64Range(1, 1e6).Draw(t, "nanoseconds per unit")
		interval := rapid.Int64Range(1, 1e5).Draw(t, "interval")
		units := rapid.IntRange(1, 5000).Draw(t, "units")
		var account tally
		account.start(0, interval)
		for n := range units {
			account.note(unit*int64(n+1), 0)
		}
		s := account.work.series
		if len(s.Thousandths) > result.MaxSamples {
			t.Fatalf("%d samples", len(s.Thousandths))
		}
		_, last := s.Span()
		if end := unit * int64(units); last > end || end-last >= s.Interval {
			t.Errorf("work until %d, but samples until %d, one each %d", end, last, s.Interval)
		}
		for k, done := range s.Thousandths {
			// Sample by sample, in whole thousandths rounded down.
			if want := float64(int64(k)*s.Interval) * 1000 / float64(unit); math.Abs(float64(done)-want) > 1.01 {
				t.Fatalf("sample %d of %d: %d thousandths, want %.1f", k, len(s.Thousandths), done, want)
			}
		}
	})
}

func TestTheTotalIsThatOfAllWorkersWhileAllWork(t *testing.T) {
	t.Parallel()
	tallies := make([]tally, 2)
	for i, unit := range []int64{5, 10} {
		tallies[i].start(0, 10)
		for end := unit; end <= 400*unit; end += unit {
			tallies[i].note(end, end)
		}
	}
	// The first worker has 200 samples, the second 400: so many that its interval has
	// doubled.
	s, processor, units := total(tallies)
	if units != 800 || s.Interval != 20 || len(s.Thousandths) != 101 {
		t.Fatalf("%d units, %d samples, one each %d; want 800, 101, 20", units, len(s.Thousandths), s.Interval)
	}
	for k, done := range s.Thousandths {
		if want := int64(k) * 6000; done != want {
			t.Fatalf("sample %d: %d thousandths, want %d", k, done, want)
		}
	}
	if processor.Interval != s.Interval || len(processor.Thousandths) != len(s.Thousandths) {
		t.Errorf("%d samples of the processor time, one each %d", len(processor.Thousandths), processor.Interval)
	}
}
