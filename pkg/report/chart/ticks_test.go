package chart

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
)

func labels(ticks []plot.Tick) []string {
	all := make([]string, len(ticks))
	for i, tick := range ticks {
		all[i] = tick.Label
	}
	return all
}

func TestTicksAreFewRoundNumbers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ticks []plot.Tick
		want  []string
	}{
		"linear, small":      {linearTicks(0.95, 2.05), []string{"1.0", "1.2", "1.4", "1.6", "1.8", "2.0"}},
		"linear, below zero": {linearTicks(-1, 1), []string{"-1.0", "-0.5", "0.0", "0.5", "1.0"}},
		"linear, large":      {linearTicks(0, 12e5), []string{"0", "200,000", "400,000", "600,000", "800,000", "1,000,000", "1,200,000"}},
		"linear, tiny":       {linearTicks(0, 3e-9), []string{"0", "5e-10", "1e-09", "1.5e-09", "2e-09", "2.5e-09", "3e-09"}},
		"log, narrow":        {logTicks(1, 2), []string{"1.0", "1.2", "1.4", "1.6", "1.8", "2.0"}},
		"log, one decade":    {logTicks(0.98, 12), []string{"1", "1.5", "2", "3", "5", "7", "10"}},
		"log, three decades": {logTicks(0.2, 150), []string{"0.2", "0.5", "1", "2", "5", "10", "20", "50", "100"}},
		"log, five decades":  {logTicks(0.01, 1000), []string{"0.01", "0.1", "1", "10", "100", "1,000"}},
		"log, thirty decades": {logTicks(1e-10, 1e20), []string{
			"1e-10", "1e-07", "0.0001", "0.1", "100", "100,000", "100,000,000", "1e+11", "1e+14", "1e+17", "1e+20",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, labels(c.ticks)); diff != "" {
				t.Errorf("labels differ (-want +got):\n%s", diff)
			}
		})
	}
}
