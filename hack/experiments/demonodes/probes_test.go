package main

import (
	"math"
	"testing"

	"loadline.dev/loadline/pkg/probe/result"
)

func TestTheDilationBesideAnotherProbeIsAgainstBeforeAndAfter(t *testing.T) {
	t.Parallel()
	// 10 units/s for 5 s, 5 units/s for 10 s, 11 units/s for 5 s, in samples of 0.5 s.
	long := result.Series{Begin: 100 * aSecond, Interval: aSecond / 2, Thousandths: []int64{0}}
	for k := range 40 {
		rate := int64(10)
		switch {
		case k >= 30:
			rate = 11
		case k >= 10:
			rate = 5
		}
		long.Thousandths = append(long.Thousandths, long.Thousandths[k]+rate*500)
	}
	short := result.Series{Begin: 105 * aSecond, Interval: aSecond, Thousandths: make([]int64, 11)}
	got, err := dilationBeside(long.Rate, long, short)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got-2.1) > 1e-9 {
		t.Errorf("%v, want 2.1", got)
	}
	short.Begin = 200 * aSecond
	if _, err := dilationBeside(long.Rate, long, short); err == nil {
		t.Error("runs that did not overlap have a dilation")
	}
}
