package gps_test

import (
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/gps"
)

func TestBadInputIsRefusedByName(t *testing.T) {
	t.Parallel()
	job := func(change func(*gps.Job)) gps.Network {
		j := gps.Job{Demands: []float64{0.5}}
		change(&j)
		return gps.Network{Servers: []int{1}, Jobs: []gps.Job{{}, j}}
	}
	for want, n := range map[string]gps.Network{
		"servers: there is no processor":         {},
		"servers[1]: 0 is not between":           {Servers: []int{1, 0}},
		"jobs[1].demands: 2 for 1 stations":      job(func(j *gps.Job) { j.Demands = []float64{0.1, 0.1} }),
		"jobs[1].demands[0]: NaN is not between": job(func(j *gps.Job) { j.Demands[0] = math.NaN() }),
		"jobs[1].demands[0]: -0.1 is not":        job(func(j *gps.Job) { j.Demands[0] = -0.1 }),
		"jobs[1].demands[0]: 1.5 is not":         job(func(j *gps.Job) { j.Demands[0] = 1.5 }),
		"jobs[1].burst: -1 is not a finite":      job(func(j *gps.Job) { j.Burst = -1 }),
		"jobs[1].burst: +Inf is not a finite":    job(func(j *gps.Job) { j.Burst = math.Inf(1) }),
		"jobs[1].weight: NaN is not a finite":    job(func(j *gps.Job) { j.Weight = math.NaN() }),
		"jobs[1].threads: -1 is not between":     job(func(j *gps.Job) { j.Threads = -1 }),
		"jobs[1].limit: -1 is not a finite":      job(func(j *gps.Job) { j.Limit = -1 }),
		"jobs[1].group: 1 is not the index":      job(func(j *gps.Job) { j.Group = 1 }),
		"demands: 1.2 together are more than 1":  {Servers: []int{1, 1}, Jobs: []gps.Job{{Demands: []float64{0.6, 0.6}}}},
		"groups[1].parent: 1 is not the index":   {Servers: []int{1}, Groups: []gps.Group{{}, {Parent: 1, Weight: 1}}},
		"groups[1].weight: 0 is not a finite":    {Servers: []int{1}, Groups: []gps.Group{{}, {}}},
		"groups[0].limit: -1 is not a finite":    {Servers: []int{1}, Groups: []gps.Group{{Limit: -1}}},
	} {
		for name, err := range map[string]error{"Validate": n.Validate(), "Solve": second(gps.Solve(&n, gps.Options{})), "Exact": second(gps.Exact(&n, 10))} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

func second[A any](_ A, err error) error { return err }
