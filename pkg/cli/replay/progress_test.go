package replay

import (
	"testing"
	"time"

	"loadline.dev/loadline/pkg/evaluate/replays"
)

func TestProgressSaysHowFarAllRunsAre(t *testing.T) {
	t.Parallel()
	one := []replays.Run{{Policy: "lmuf", Seed: 1}}
	four := []replays.Run{{Policy: "lmuf", Seed: 1}, {Policy: "lmuf", Seed: 2}, {Policy: "lrt", Seed: 1}, {Policy: "lrt", Seed: 2}}
	half := &traceSource{size: 1000}
	half.read.Store(500)
	for name, test := range map[string]struct {
		p    *progress
		run  int
		time time.Duration
		want string
	}{
		"the beginning": {&progress{runs: one, jobs: 1000, arrived: []int{0}}, 0, 0, "lmuf  ░░░░░░░░░░░░░░░░░░░░░░░░  0%  0 of 1,000 jobs"},
		"one run": {
			&progress{runs: one, jobs: 1_000_000, arrived: []int{750_000}}, 0, 3 * time.Second,
			"lmuf  ██████████████████░░░░░░  75%  750,000 of 1,000,000 jobs, 250k jobs/s, 1s left",
		},
		"many runs at once": {
			&progress{runs: four, jobs: 1000, arrived: []int{1000, 500, 500, 0}}, 2, time.Hour,
			"lrt 1  ████████████░░░░░░░░░░░░  50%  2,000 of 4,000 jobs, 0 jobs/s, 1h 00m left",
		},
		"a trace of unknown length": {
			&progress{runs: one, source: half, arrived: []int{70}}, 0, 10 * time.Second,
			"lmuf  ████████████░░░░░░░░░░░░  50%  70 jobs, 7 jobs/s, 10s left",
		},
		"a trace shorter than its limit": {
			&progress{runs: one, jobs: 1_000_000, source: half, arrived: []int{100}}, 0, 10 * time.Second,
			"lmuf  ████████████░░░░░░░░░░░░  50%  100 of 1,000,000 jobs, 10 jobs/s, 10s left",
		},
		"the end": {
			&progress{runs: one, jobs: 100, arrived: []int{100}}, 0, time.Second,
			"lmuf  ████████████████████████  100%  100 of 100 jobs, 100 jobs/s, 1s left",
		},
	} {
		if got := test.p.line(test.p.runs[test.run], test.time); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}
