package job

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/pkg/probe/result"
)

var near = cmpopts.EquateApprox(0, 1e-9) // rounding

const aSecond = int64(1e9)

func TestTheVectorOfAJobIsWhereItsTimeWent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		load    result.Load
		service time.Duration
		want    [2]float64
	}{
		"computing and idle": {
			result.Load{End: 10 * aSecond, CPUNanos: 4 * aSecond, Demands: []result.Served{{Job: result.CPU, Nanos: 4 * aSecond}}},
			0,
			[2]float64{0.4, 0},
		},
		"what computes in calls to the disk is not at the disk": {
			result.Load{End: 10 * aSecond, CPUNanos: 6 * aSecond, Demands: []result.Served{
				{Job: result.CPU, Nanos: 5 * aSecond}, {Job: result.DiskWrite, Nanos: 4 * aSecond},
			}},
			0,
			[2]float64{0.6, 0.3},
		},
		"what takes time on the way is not served": {
			result.Load{End: 10 * aSecond, CPUNanos: 6 * aSecond, Demands: []result.Served{
				{Job: result.CPU, Nanos: 5 * aSecond}, {Job: result.Network, Units: 100, Nanos: 4 * aSecond},
			}},
			20 * time.Millisecond,
			[2]float64{0.6, 0.2},
		},
		"a run of no time": {result.Load{}, 0, [2]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Vector(test.load, test.service), near); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAJobWithMoreWorkHasALongerNeutralTime(t *testing.T) {
	t.Parallel()
	load := func(units uint64, seconds int64) result.Load {
		return result.Load{End: seconds * aSecond, IdleNanos: 2 * aSecond, Demands: []result.Served{{Units: units, UnitsPerSecond: 100}}}
	}
	// Alone 4 s of work took 5 s; 5 s of work would take 6.25 s.
	if got := Neutral(load(300, 99), load(200, 5)); math.Abs(got-6.25) > 1e-9 {
		t.Errorf("%v s, want 6.25", got)
	}
	silent := result.Load{End: 3 * aSecond}
	if got := Neutral(result.Load{End: 9 * aSecond}, silent); got != 3 {
		t.Errorf("a job that does not tell its work: %v s, want what it took alone, 3", got)
	}
}

func TestTheMedianIsInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 9, 2}, 3}} {
		if got := Median(test.values); got != test.want {
			t.Errorf("%v: %v, want %v", test.values, got, test.want)
		}
	}
}
