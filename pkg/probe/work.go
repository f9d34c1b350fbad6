package probe

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

// limits say when workers end, if the context does not end before.
type limits struct {
	duration time.Duration
	units    uint64 // 0: no limit
}

// worked is what workers did together.
type worked struct {
	series    result.Series
	processor result.Series // milliseconds that they ran
	stolen    result.Series // milliseconds that a hypervisor kept them from it
	units     uint64
	cpuNanos  int64
	ended     string
}

// work has workers, each on a thread of its own, do units of work until a limit is
// reached or the context ends. It returns when all have ended. A unit that is under way
// then is finished. The first error ends all.
func work(ctx context.Context, units []unit, limits limits, interval time.Duration) (worked, error) {
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), len(units)+2)) // the runtime does not see a worker block
	s := shift{limited: limits.units > 0, begin: make(chan struct{})}
	s.left.Store(int64(limits.units))
	unhook := context.AfterFunc(ctx, func() { s.stop.Store(true) })
	defer unhook()

	tallies := make([]tally, len(units))
	var workers, ready sync.WaitGroup
	errs := make([]error, len(units))
	for i, do := range units {
		ready.Add(1)
		workers.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			<-s.begin
			if errs[i] = s.serve(do, &tallies[i]); errs[i] != nil {
				s.stop.Store(true)
			}
		})
	}
	ready.Wait()
	now, err := Now()
	cpu, cpuErr := cpuTime()
	if err = errors.Join(err, cpuErr); err != nil {
		s.stop.Store(true)
	}
	s.until = now + limits.duration.Nanoseconds()
	for i := range tallies {
		tallies[i].start(now, interval.Nanoseconds())
	}
	var stolen samples
	stolen.start(now, interval.Nanoseconds())
	done, recorded := make(chan struct{}), make(chan error, 1)
	go func() { recorded <- recordStolen(&stolen, now, done) }()
	close(s.begin)
	workers.Wait()
	cpuNow, cpuErr := cpuTime()
	close(done)
	if err := errors.Join(err, cpuErr, <-recorded, errors.Join(errs...)); err != nil {
		return worked{}, err
	}
	w := worked{cpuNanos: cpuNow - cpu, stolen: stolen.series, ended: s.ended(ctx)}
	w.series, w.processor, w.units = total(tallies)
	return w, nil
}

// shift is what workers share while they work.
type shift struct {
	stop    atomic.Bool
	left    atomic.Int64 // units that no worker has begun, if limited
	limited bool
	until   int64 // set before begin
	begin   chan struct{}
}

// serve is a worker's life.
func (s *shift) serve(do unit, t *tally) error {
	before, err := threadTime()
	if err != nil {
		return err
	}
	for !s.stop.Load() && (!s.limited || s.left.Add(-1) >= 0) {
		if err := do(); errors.Is(err, context.Canceled) {
			return nil
		} else if err != nil {
			return err
		}
		now, err := Now()
		ran, ranErr := threadTime()
		if err := errors.Join(err, ranErr); err != nil {
			return err
		}
		t.note(now, ran-before)
		if now >= s.until {
			return nil
		}
	}
	return nil
}

// ended says why all have ended.
func (s *shift) ended(ctx context.Context) string {
	switch {
	case ctx.Err() != nil:
		return result.EndedTerminated
	case s.limited && s.left.Load() < 0:
		return result.EndedUnits
	default:
		return result.EndedDuration
	}
}
