package history

import (
	"errors"
	"testing"

	"loadline.dev/loadline/pkg/gauge/usage"
)

func TestAnIntervalBeginsWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	now, failing := 0.0, false
	read := func() (float64, error) {
		now += 10
		if failing {
			return 0, errors.New("no such file")
		}
		return now, nil
	}
	sample, err := Differences(read, func(before, after float64) *usage.Interval { return &usage.Interval{Seconds: after - before} })
	if err != nil {
		t.Fatal(err)
	}
	want := func(seconds float64) {
		t.Helper()
		if v, err := sample(t.Context()); err != nil || v.Seconds != seconds {
			t.Errorf("got %+v, %v, want %v seconds", v, err, seconds)
		}
	}
	want(10)
	failing = true
	if v, err := sample(t.Context()); err == nil {
		t.Errorf("a reading that failed gives %+v", v)
	}
	failing = false
	want(20)
	want(10)
}

func TestAFirstReadingThatFailsIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	none := errors.New("no such file")
	if _, err := Differences(func() (int, error) { return 0, none }, nil); !errors.Is(err, none) {
		t.Errorf("got %v", err)
	}
}
