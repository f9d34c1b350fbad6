package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

// MaxDuration is how long a job runs at most.
const MaxDuration = time.Hour

// RunOptions say how to run a standard job.
type RunOptions struct {
	Job Job
	// Intensity is the number of workers, from 1 to [MaxIntensity].
	Intensity int
	// Duration is how long they work, at most [MaxDuration].
	Duration time.Duration
	// Units is how many units they do at most; 0 is no limit.
	Units uint64
	// Check is how long to look for the self dilation before, at least [MinCheck]; 0 is
	// not at all.
	Check time.Duration
}

// Run runs a standard job until its duration is over, its units are done or the context
// ends: that is no error, if the workers have begun.
func Run(ctx context.Context, o RunOptions) (result.Run, error) {
	if o.Duration <= 0 || o.Duration > MaxDuration {
		return result.Run{}, fmt.Errorf("duration: %v is not above 0 and at most %v", o.Duration, MaxDuration)
	}
	if o.Check != 0 && (o.Check < MinCheck || o.Check > MaxDuration) {
		return result.Run{}, fmt.Errorf("check: %v is not from %v to %v (0 is not to check)", o.Check, MinCheck, MaxDuration)
	}
	boot, err := bootID()
	if err != nil {
		return result.Run{}, err
	}
	r := result.Run{Job: o.Job.Name, Intensity: o.Intensity, Pressure: o.Job.Pressure, BootID: boot}
	if o.Check > 0 {
		found, err := checkSelf(ctx, o)
		if err != nil {
			return result.Run{}, fmt.Errorf("finding the self dilation: %w", err)
		}
		r.SelfDilation = found
	}
	err = o.Job.runCopies(ctx, 1, o.Intensity, func(copies ...*workers) error {
		w, err := work(ctx, copies[0].units, limits{duration: o.Duration, units: o.Units}, sampling)
		r.Begin, r.Series, r.Units, r.CPUNanos, r.Ended = w.series.Begin, w.series, w.units, w.cpuNanos, w.ended
		if o.Job.described().Computes {
			r.Processor, r.Stolen = w.processor, w.stolen
		}
		return err
	})
	return r, err
}

// waiting returns how many times longer than their processor time workers take that
// compute all the time.
func waiting(ctx context.Context, units []unit, duration time.Duration) (float64, error) {
	begin, err := Now()
	if err != nil {
		return 0, err
	}
	w, err := work(ctx, units, limits{duration: duration}, sampling)
	if err != nil {
		return 0, err
	}
	end, err := Now()
	if err := errors.Join(err, ctx.Err()); err != nil {
		return 0, err
	}
	if w.cpuNanos == 0 {
		return 0, errTooSlow
	}
	return float64(end-begin) * float64(len(units)) / float64(w.cpuNanos), nil
}

// checkSelf returns how many times slower each of two such jobs is. Jobs of the CPU
// tell by their processor time, whatever else runs on the node, others by comparison.
func checkSelf(ctx context.Context, o RunOptions) (dilation float64, err error) {
	err = o.Job.runCopies(ctx, 2, o.Intensity, func(copies ...*workers) error {
		if o.Job.described().Computes {
			dilation, err = waiting(ctx, slices.Concat(copies[0].units, copies[1].units), o.Check)
			return err
		}
		c, err := compareCopies(ctx, copies[0], copies[1], o.Intensity, o.Check)
		dilation = c.dilation
		return err
	})
	return dilation, err
}
