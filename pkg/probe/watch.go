package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

// WatchOptions say how to observe the containers of a pod whose containers share their
// process namespace.
type WatchOptions struct {
	// Interval is how often to look, from 1 ms to 1 s.
	Interval time.Duration
	// Ended is given what there is to report whenever the last container has ended.
	Ended func(result.Watch) error

	// What stands between the observer and Linux; tests have their own.

	// Proc is the root of the proc file system, /proc if it is empty.
	Proc string
	// Self is the observer's own process, that of the caller if it is 0.
	Self int
	// Now returns the time, that of [Now] if it is nil.
	Now func() (int64, error)
	// CPUTime returns for how long the observer has run, in nanoseconds. If it is nil it
	// asks the kernel.
	CPUTime func() (int64, error)
	// Wait returns when one of the processes has ended, and at the latest after a while. If
	// it is nil it asks the kernel.
	Wait func(pids []int, atMost time.Duration) error
}

// Watch observes until the context ends: that is no error. It is for the last of a pod's
// sidecar containers: it observes the containers that start after it. The containers'
// first processes have no parent in the namespace; when one of them starts and ends is
// when its container does, by as much as the interval for the start and at once for the
// end.
func Watch(ctx context.Context, o WatchOptions) (watched result.Watch, err error) {
	if o.Interval < time.Millisecond || o.Interval > time.Second {
		return result.Watch{}, fmt.Errorf("interval: %v is not from 1ms to 1s", o.Interval)
	}
	boot, err := bootID()
	if err != nil {
		return result.Watch{}, err
	}
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	if o.Self == 0 {
		o.Self = os.Getpid()
	}
	if o.Now == nil {
		o.Now = Now
	}
	if o.CPUTime == nil {
		o.CPUTime = cpuTime
	}
	if o.Wait == nil {
		var kernel exits
		defer func() { err = errors.Join(err, kernel.close()) }()
		o.Wait = kernel.wait
	}
	usable, err := usableProcessors()
	if err != nil {
		return result.Watch{}, err
	}
	w := newWatcher(proc(o.Proc), o.Self, func() (usage, error) {
		stolen, err := proc(o.Proc).stolen(usable.IsSet)
		ran, ranErr := o.CPUTime()
		return usage{stolen, ran / int64(usable.Count())}, errors.Join(err, ranErr)
	})
	if _, _, err := w.proc.times(o.Self, o.Self); err != nil {
		return result.Watch{}, fmt.Errorf("the kernel does not say how long threads wait: %w", err)
	}
	w.result.BootID = boot
	for {
		now, err := o.Now()
		if err == nil {
			err = w.look(now)
		}
		if err != nil {
			return result.Watch{}, err
		}
		if w.justEnded && o.Ended != nil {
			if err := o.Ended(w.report()); err != nil {
				return result.Watch{}, err
			}
		}
		if ctx.Err() != nil {
			return w.report(), nil
		}
		if err := o.Wait(w.running(), o.Interval); err != nil {
			return result.Watch{}, err
		}
	}
}
