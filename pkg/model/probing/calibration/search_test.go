package calibration_test

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/probing/calibration"
)

// dilation is that of two copies of n workers on c servers.
func dilation(n, c int) float64 { return max(1, min(2, 2*float64(n)/float64(c))) }

// run searches with a measurement and returns the intensities that were tried.
func run(t interface{ Fatal(args ...any) }, s *calibration.Search, measure func(n int) float64) []int {
	var tried []int
	for n, more := s.Next(); more; n, more = s.Next() {
		tried = append(tried, n)
		if err := s.Record(measure(n)); err != nil {
			t.Fatal(err)
		}
		if len(tried) > 100 {
			t.Fatal("the search does not end")
		}
	}
	return tried
}

func TestTheServersOfAResourceAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.IntRange(1, 1000).Draw(t, "servers")
		s := calibration.NewSearch(1000)
		tried := run(t, s, func(n int) float64 { return dilation(n, c) })
		got, saturated := s.Servers()
		if want := int(math.Ceil(0.95 * float64(c))); !saturated || got != want { // for c < 20 that is c
			t.Fatalf("got %d, %v, want %d", got, saturated, want)
		}
		if most := min(2*bits.Len(uint(c))+1, calibration.Steps(1000)); len(tried) > most {
			t.Fatalf("%d servers took %d measurements, more than %d: %v", c, len(tried), most, tried)
		}
	})
}

func TestTheSearchDoublesAndThenHalves(t *testing.T) {
	t.Parallel()
	s := calibration.NewSearch(64)
	tried := run(t, s, func(n int) float64 { return dilation(n, 6) })
	if want := []int{1, 2, 4, 8, 6, 5}; !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
}

// Up to 11 servers the next lower intensity is 9 % away; noise of 4 % leaves 2 from
// 1.92 up, and 2·10/11 up to 1.89.
func TestNoiseDoesNotMislead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.IntRange(1, 11).Draw(t, "servers")
		s := calibration.NewSearch(32)
		run(t, s, func(n int) float64 { return dilation(n, c) * rapid.Float64Range(0.96, 1.04).Draw(t, "noise") })
		if got, saturated := s.Servers(); !saturated || got != c {
			t.Fatalf("got %d, %v, want %d", got, saturated, c)
		}
	})
}

func TestAResourceThatIsNeverSaturatedIsSaidToBeSo(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 5, 8} {
		s := calibration.NewSearch(most)
		tried := run(t, s, func(n int) float64 { return dilation(n, 100) })
		if got, saturated := s.Servers(); saturated || got != 0 {
			t.Errorf("got %d servers", got)
		}
		if tried[len(tried)-1] != most {
			t.Errorf("tried %v, want the last to be %d", tried, most)
		}
	}
}

func TestCopiesThatDisturbEachOtherMoreThanTwofoldSaturate(t *testing.T) {
	t.Parallel()
	s := calibration.NewSearch(8)
	run(t, s, func(int) float64 { return 2.6 })
	if got, saturated := s.Servers(); got != 1 || !saturated {
		t.Errorf("got %d, %v", got, saturated)
	}
}

func TestTheZeroSearchTriesOneWorker(t *testing.T) {
	t.Parallel()
	var s calibration.Search
	if tried := run(t, &s, func(int) float64 { return 1 }); !slices.Equal(tried, []int{1}) {
		t.Errorf("tried %v", tried)
	}
	wide := calibration.NewSearch(math.MaxInt)
	if tried := run(t, wide, func(int) float64 { return 1 }); tried[len(tried)-1] != calibration.MostWorkers {
		t.Errorf("tried %v", tried)
	}
}

func TestADilationThatIsNoneIsNotRecorded(t *testing.T) {
	t.Parallel()
	s := calibration.NewSearch(4)
	for _, bad := range []float64{0, -2, math.NaN(), math.Inf(1)} {
		err := s.Record(bad)
		if want := fmt.Sprintf("dilation: %v of two copies of 1 workers is not a positive, finite number", bad); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if n, more := s.Next(); n != 1 || !more {
		t.Errorf("after bad dilations the next is %d, %v", n, more)
	}
	run(t, s, func(int) float64 { return 2 })
	if err := s.Record(2); err == nil || !strings.Contains(err.Error(), "the search is over") {
		t.Errorf("got %v", err)
	}
}
