package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/utils/cpuset"

	"loadline.dev/loadline/pkg/model/probing"
	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/pkg/probe/topology"
)

const (
	// pressureSlice is how long the reporter is measured at a time: many times as long as it takes to have its working set
	// in a cache again, and short against what other machines on the same hardware do.
	pressureSlice = 100 * time.Millisecond
	// longestSlice is how long it is measured at most, on a machine that is busy with other work.
	longestSlice = 32 * pressureSlice
	// leastPressureRounds is how many rounds tell an error.
	leastPressureRounds = 3
	// MaxLevels is at how many levels of pressure a job is calibrated at most.
	MaxLevels = 16
)

// CalibratePressureOptions say how to calibrate an interference resource.
type CalibratePressureOptions struct {
	// Job is the standard job whose pressure is found, without a pressure of its own.
	Job Job
	// Levels is how many levels of pressure there are, from 1 to [MaxLevels], evenly from 0 to 1.
	Levels int
	// Budget is how long it may take, less the making of memory: at least three rounds, at most [MaxDuration].
	Budget time.Duration
}

// rounds returns how many there is time for: each measures the reporter with and without the bubble at each level.
func (o CalibratePressureOptions) rounds() (int, error) {
	if _, presses := result.InterferenceResource(o.Job.Name); !presses {
		return 0, fmt.Errorf("%s: is no job at an interference resource", o.Job.Name)
	}
	if o.Job.Pressure != 0 {
		return 0, fmt.Errorf("pressure: %v is given, and to be found at each level", o.Job.Pressure)
	}
	if o.Levels < 1 || o.Levels > MaxLevels {
		return 0, fmt.Errorf("levels: %d is not from 1 to %d", o.Levels, MaxLevels)
	}
	round := 2 * time.Duration(o.Levels) * pressureSlice
	if least := leastPressureRounds * round; o.Budget < least || o.Budget > MaxDuration {
		return 0, fmt.Errorf("budget: %v is not from %v, which %d levels take, to %v", o.Budget, least, o.Levels, MaxDuration)
	}
	return int(o.Budget / round), nil
}

// CalibratePressure finds how much a standard job, the bubble, slows another of its kind down, the reporter, level by
// level of pressure, on two processors that share the resource and that this process may use. Rounds alternate the
// reporter alone with the reporter beside the bubble, so that what drifts evenly cancels.
func CalibratePressure(ctx context.Context, o CalibratePressureOptions) (result.PressureCalibration, error) {
	rounds, err := o.rounds()
	if err != nil {
		return result.PressureCalibration{}, err
	}
	boot, err := bootID()
	if err != nil {
		return result.PressureCalibration{}, err
	}
	c := result.PressureCalibration{Job: o.Job.Name, BootID: boot, Rounds: rounds}
	var one, other int
	if c.Domains, one, other, err = neighbors(o.Job.Name); err != nil {
		return result.PressureCalibration{}, err
	}
	c.Processors = []int{one, other}
	err = o.Job.runCopies(ctx, 2, 1, func(copies ...*workers) error {
		beside := func(pressure float64) (nanosPerUnit float64, err error) {
			if pressure == 0 {
				return besideBubble(ctx, copies[0].units[0], nil, one, other)
			}
			copies[1].pressure = pressure
			return besideBubble(ctx, copies[0].units[0], copies[1].units[0], one, other)
		}
		levels, alone, err := measureLevels(o.Levels, rounds, beside)
		if err != nil {
			return err
		}
		c.NanosPerUnit = alone
		fitted, err := probing.FitSensitivity(levels)
		if err != nil {
			return err
		}
		for k, pressure := range fitted.Pressures {
			at := fitted.Inflations[k]
			c.Curve = append(c.Curve, result.PressurePoint{Pressure: pressure, Inflation: at.Value, Error: at.Error})
		}
		c.Shows = fitted.Shows()
		return nil
	})
	return c, err
}

// neighbors returns how many domains of the job's resource the node has, and two processors of one of them.
func neighbors(job string) (domains, one, other int, err error) {
	machine, err := topology.Read(os.DirFS(topology.Path))
	if err != nil {
		return 0, 0, 0, fmt.Errorf("finding processors that share a resource: %w", err)
	}
	usable, err := usableProcessors()
	if err != nil {
		return 0, 0, 0, err
	}
	var mine []int
	for _, processor := range machine.Processors.List() {
		if usable.IsSet(processor) {
			mine = append(mine, processor)
		}
	}
	resource, _ := result.InterferenceResource(job)
	one, other, ok := machine.Neighbors(resource, cpuset.New(mine...))
	if !ok {
		return 0, 0, 0, fmt.Errorf("%s: of the processors that may be used, %v, the kernel names no two that share it", resource, mine)
	}
	return len(machine.Domains(resource)), one, other, nil
}

// measureLevels returns the inflations of each round beside the bubble at each level, and the mean without it, in
// nanoseconds per unit.
func measureLevels(levels, rounds int, beside func(pressure float64) (float64, error)) (found []probing.Level, alone float64, err error) {
	for k := range levels {
		found = append(found, probing.Level{Pressure: float64(k+1) / float64(levels)})
	}
	before, err := beside(0)
	if err != nil {
		return nil, 0, err
	}
	for range rounds {
		for k := range found {
			with, err := beside(found[k].Pressure)
			if err != nil {
				return nil, 0, err
			}
			after, err := beside(0)
			if err != nil {
				return nil, 0, err
			}
			mean := (before + after) / 2
			// Noise takes it no further below 1 than what a measurement can be.
			found[k].Inflations = append(found[k].Inflations, max(probing.MinDilation, with/mean))
			alone += mean / float64(rounds*levels)
			before = after
		}
	}
	return found, alone, nil
}

// besideBubble returns the processor time of a unit of the reporter while the bubble, if there is one, runs on another
// processor. Where other work leaves the reporter no time in a slice, it gets longer ones.
func besideBubble(ctx context.Context, reporter, bubble unit, one, other int) (nanosPerUnit float64, err error) {
	for slice := pressureSlice; slice <= longestSlice; slice *= 2 {
		nanosPerUnit, err = besideBubbleFor(ctx, slice, reporter, bubble, one, other)
		if !errors.Is(err, errTooSlow) {
			break
		}
	}
	return nanosPerUnit, err
}

// besideBubbleFor measures one slice, without its first fifth, in which caches fill.
func besideBubbleFor(ctx context.Context, slice time.Duration, reporter, bubble unit, one, other int) (nanosPerUnit float64, err error) {
	account := &paced{do: reporter, settle: slice / 5}
	units := []unit{pinned(one, account.unit)}
	if bubble != nil {
		units = append(units, pinned(other, bubble))
	}
	if _, err := work(ctx, units, limits{duration: slice}, sampling); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if account.units == 0 || account.ran == account.first {
		return 0, errTooSlow
	}
	return float64(account.ran-account.first) / float64(account.units), nil
}

// paced keeps account of one worker's processor time from when it has settled.
type paced struct {
	do         unit
	settle     time.Duration
	begun      int64 // when the first unit ended
	units      int64
	first, ran int64 // processor time when it had settled, and at the last unit since
}

func (p *paced) unit() error {
	if err := p.do(); err != nil {
		return err
	}
	now, err := Now()
	ran, ranErr := threadTime()
	if err := errors.Join(err, ranErr); err != nil {
		return err
	}
	switch {
	case p.begun == 0:
		p.begun, p.first, p.ran = now, ran, ran
	case now-p.begun < p.settle.Nanoseconds():
		p.first, p.ran = ran, ran
	default:
		p.units++
		p.ran = ran
	}
	return nil
}

// pinned returns a unit whose worker stays on one processor from its first unit on. Its thread ends with the worker, which
// ends without giving it back.
func pinned(processor int, do unit) unit {
	fixed := false
	return func() error {
		if !fixed {
			if err := pin(processor); err != nil {
				return err
			}
			fixed = true
		}
		return do()
	}
}
