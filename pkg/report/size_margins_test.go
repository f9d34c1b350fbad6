package report

import (
	"testing"
)

func TestMarginsAreTold(t *testing.T) {
	t.Parallel()
	name := func(s marginScale, margin float64) string { return s.findings()[s.finding(margin)].Name }
	few := newMarginScale([][]float64{{0, 1}, {-3, 2}}, true)
	many := newMarginScale([][]float64{{0, 30}, {-80, 2}}, true)
	costs := newMarginScale([][]float64{{0, 0.5}, {-3, 2}}, false)
	for _, c := range []struct {
		scale  marginScale
		margin float64
		want   string
	}{
		{few, 0, "as many servers either way"},
		{few, 1, "dedicated pools need 1 server fewer"},
		{few, 2, "dedicated pools need 2 servers fewer"},
		{few, -3, "a shared pool needs 3 servers fewer"},
		{many, 2, "dedicated pools need 1 to 2 servers fewer"},
		{many, 3, "dedicated pools need 3 to 8 servers fewer"},
		{many, 30, "dedicated pools need 27 to 80 servers fewer"},
		{many, -80, "a shared pool needs 27 to 80 servers fewer"},
		{costs, 0.5, "dedicated pools cost less"},
		{costs, -3, "a shared pool costs less"},
		{costs, 1e-12, "the same cost either way"},
	} {
		if got := name(c.scale, c.margin); got != c.want {
			t.Errorf("a margin of %v is told as %q, want %q", c.margin, got, c.want)
		}
	}
}
