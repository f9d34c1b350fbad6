//go:build linux && (amd64 || arm64)

package probe

import (
	"errors"
	"math"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

func TestLevelsAreComparedWithWhatIsMeasuredAround(t *testing.T) {
	t.Parallel()
	// A machine that becomes slower by 1 each time, and a bubble that makes the reporter half as fast again.
	now := 99.0
	levels, alone, err := measureLevels(2, 10, func(pressure float64) (float64, error) {
		now++
		return now * (1 + pressure/2), nil
	})
	if err != nil || len(levels) != 2 || alone <= 100 {
		t.Fatalf("%v, %v, %v", levels, alone, err)
	}
	for k, pressure := range []float64{0.5, 1} {
		if levels[k].Pressure != pressure || len(levels[k].Inflations) != 10 {
			t.Errorf("level %d: %v", k, levels[k])
		}
		for _, got := range levels[k].Inflations {
			if want := 1 + pressure/2; math.Abs(got-want) > 1e-12 { // a drift that is even cancels
				t.Errorf("at a pressure of %v: %v, want %v", pressure, got, want)
			}
		}
	}
}

func TestABubbleThatFailsEndsTheCalibration(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for after := range 3 {
		calls := 0
		_, _, err := measureLevels(1, 2, func(float64) (float64, error) {
			if calls++; calls > after {
				return 0, broken
			}
			return 1, nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("after %d: error = %v", after, err)
		}
	}
}

// As on a machine whose other work leaves it a moment now and then.
func TestAReporterThatRunsSeldomIsMeasuredForLonger(t *testing.T) {
	t.Parallel()
	usable, err := usableProcessors()
	if err != nil {
		t.Fatal(err)
	}
	seldom := func() error {
		now, err := Now()
		if err != nil {
			return err
		}
		return sleepUntil(now + int64(3*pressureSlice/2))
	}
	processor := 0
	for !usable.IsSet(processor) {
		processor++
	}
	if nanos, err := besideBubble(t.Context(), seldom, nil, processor, processor); err != nil || nanos <= 0 {
		t.Errorf("%v, %v", nanos, err)
	}
}

func TestACalibrationOfPressureReportsItsLevels(t *testing.T) {
	job := Job{Name: result.LLC, Size: MinSize}
	if _, _, _, err := neighbors(job.Name); err != nil {
		t.Skipf("no two processors to measure: %v", err)
	}
	got, err := CalibratePressure(t.Context(), CalibratePressureOptions{Job: job, Levels: 2, Budget: 12 * pressureSlice})
	if err != nil || len(got.Curve) != 2 || got.Rounds != 3 || got.NanosPerUnit <= 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := result.Encode(got); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeCalibratedByPressureIsSaidBeforehand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*CalibratePressureOptions)
		want   string
	}{
		"a job with a queue": {func(o *CalibratePressureOptions) { o.Job.Name = result.DiskRead }, "disk-read: is no job at an interference resource"},
		"a pressure":         {func(o *CalibratePressureOptions) { o.Job.Pressure = 0.5 }, "pressure: 0.5 is given"},
		"no levels":          {func(o *CalibratePressureOptions) { o.Levels = 0 }, "levels: 0 is not from 1 to 16"},
		"too many levels":    {func(o *CalibratePressureOptions) { o.Levels = 17 }, "levels: 17 is not from 1 to 16"},
		"too little time":    {func(o *CalibratePressureOptions) { o.Budget = time.Second }, "budget: 1s is not from 2.4s, which 4 levels take, to 1h0m0s"},
		"too much time":      {func(o *CalibratePressureOptions) { o.Budget = 2 * time.Hour }, "budget: 2h0m0s is not from 2.4s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := CalibratePressureOptions{Job: Job{Name: result.LLC}, Levels: 4, Budget: time.Minute}
			test.change(&o)
			_, err := CalibratePressure(t.Context(), o)
			wantError(t, err, test.want)
		})
	}
}
