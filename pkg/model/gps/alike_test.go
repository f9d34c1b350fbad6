package gps_test

import (
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/gps"
)

// nearlyAlike is 20 jobs of four weights that differ by some part, and a little more each.
func nearlyAlike(by float64, stations ...int) *gps.Network {
	n := &gps.Network{Servers: append([]int{1}, stations...)}
	for _, weight := range []float64{1, 5, 25, 100} {
		for range 5 {
			demands := []float64{0.1, 0.05}[:len(n.Servers)]
			n.Jobs = append(n.Jobs, gps.Job{Demands: demands, Weight: weight * (1 + by*float64(len(n.Jobs)))})
		}
	}
	return n
}

// Weights that differ by next to nothing change next to nothing, and the solution moves on steadily as they differ more: from that
// by a chain to that by the closure, which is 9 % higher for the lightest.
func TestNoSolutionJumpsWhereJobsBeginToDiffer(t *testing.T) {
	t.Parallel()
	for name, stations := range map[string][]int{"the processor alone": nil, "and a disk": {1}} {
		alike, err := gps.Solve(nearlyAlike(0, stations...), gps.Options{})
		if err != nil || !alike.Chain {
			t.Fatal(alike, err)
		}
		before, largest := alike.Responses, 0.0
		for _, by := range []float64{1e-9, 1e-4, 2e-3, 4e-3, 6e-3, 8e-3, 0.01, 0.012} {
			s, err := gps.Solve(nearlyAlike(by, stations...), gps.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for j, response := range s.Responses {
				change := math.Abs(response/before[j] - 1)
				if largest = max(largest, change); by < 1e-5 && change > 1e-4 || change > 0.035 {
					t.Errorf("%s: weights that differ by %v: job %d takes %v, and %v where they differ less", name, by, j, response, before[j])
				}
			}
			before = s.Responses
		}
		t.Logf("%s: the largest step is one of %.2f %%", name, 100*largest)
	}
}

func TestStatesOfNearlyAlikeJobsAreCounted(t *testing.T) {
	t.Parallel()
	threads := nearlyAlike(1e-9)
	threads.Jobs[3].Threads = 4
	many := nearlyAlike(1e-9)
	many.Jobs[3].Threads = gps.MaxThreads
	equal := nearlyAlike(1e-9)
	for j := range equal.Jobs {
		equal.Jobs[j].Weight, equal.Jobs[j].Demands = 1, []float64{0.1 + float64(j)/1e4}
	}
	limit := nearlyAlike(1e-9)
	limit.Jobs[3].Limit = 0.5
	for name, test := range map[string]struct {
		network *gps.Network
		want    int
	}{
		"nearly alike":                      {nearlyAlike(1e-9), 6 * 6 * 6 * 6},
		"too different":                     {nearlyAlike(0.3), 0},
		"one of several threads":            {threads, 0},
		"one of more threads than can be":   {many, 0},
		"a limit, which others do not have": {limit, 2 * 2 * 4 * 6 * 6 * 6},
		"equal shares":                      {equal, 0},
	} {
		if got, closures := test.network.States(gps.Options{}); got != test.want || !closures {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
