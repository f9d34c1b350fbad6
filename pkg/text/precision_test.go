package text

import (
	"math"
	"testing"
)

func TestAPercentageIsSeenToBeOnItsSideOfAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fraction, other float64
		want            string
	}{
		{0.961, 0.95, "96.1%"},
		{0.9496, 0.95, "94.96%"}, // 95.0% would look as if it met 95%
		{0.9499999, 0.95, "94.99999%"},
		{0.95, 0.95, "95.0%"},
		{0.95004, 0.95, "95.0%"},
		{0.94934, 0.95, "94.9%"},
		{0.99996, 0.9999, "99.996%"},
		{0, 0.95, "0.0%"},
		{math.NaN(), 0.95, Absent},
	} {
		if got := PercentBeside(c.fraction, c.other); got != c.want {
			t.Errorf("%v beside %v is %q, want %q", c.fraction, c.other, got, c.want)
		}
	}
}

func TestALimitIsRoundedDownAndToldFromWhatThereIsNow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		now, limit          float64
		wantNow, wantLimits string
	}{
		{0.6, 0.7968, "0.60", "0.79"},
		{3.6, 3.6317, "3.600", "3.631"},
		{300, 337.9, "300", "337"},
		{1e6, 1e6 + 0.947, "1,000,000.00", "1,000,000.94"},
		{1, 1 + 1e-9, "1.000000", "1.000000"},
		{0.5, 0.7, "0.50", "0.70"}, // 0.7 in binary is a little less
	} {
		if now, limit := Apart(c.now, c.limit); now != c.wantNow || limit != c.wantLimits {
			t.Errorf("%v and %v are %q and %q, want %q and %q", c.now, c.limit, now, limit, c.wantNow, c.wantLimits)
		}
	}
}

func TestAPromiseIsWrittenInFull(t *testing.T) {
	t.Parallel()
	for fraction, want := range map[float64]string{0.95: "95.0%", 0.9975: "99.75%", 0.57: "57.0%", 0.99999: "99.999%"} {
		if got := ExactPercent(fraction); got != want {
			t.Errorf("%v is %q, want %q", fraction, got, want)
		}
	}
	for seconds, want := range map[float64]string{3: "3.0s", 1.25: "1.25s", 0.25: "250ms", 0.001: "1ms", 3600: "3,600.0s"} {
		if got := Duration(seconds); got != want {
			t.Errorf("%v is %q, want %q", seconds, got, want)
		}
	}
}
