package main

import (
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/placement"
)

func TestThePapersMakespansAreThePapers(t *testing.T) {
	for _, test := range []struct {
		policy placement.Policy
		want   float64 // Fig. 8, seconds
	}{{placement.List{}, 290.56}, {placement.LeastDilation{}, 221.12}} {
		schedule, machines, err := scheduleW4(paperJobs(), test.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := schedule.MakespanSeconds(); math.Abs(got-test.want) > 0.005 {
			t.Errorf("%s: makespan %.2f s (%v), want %.2f", test.policy.Name(), got, machines, test.want)
		}
	}
}
