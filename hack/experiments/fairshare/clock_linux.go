package main

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// now returns the time of a clock that all processes share and that is never set.
func now() (time.Duration, error) { return read(unix.CLOCK_MONOTONIC, "CLOCK_MONOTONIC") }

// cpuTime returns how long the calling thread has run.
func cpuTime() (time.Duration, error) {
	return read(unix.CLOCK_THREAD_CPUTIME_ID, "CLOCK_THREAD_CPUTIME_ID")
}

func read(clock int32, name string) (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("reading %s: %w", name, err)
	}
	return time.Duration(t.Nano()), nil
}

// waitUntil blocks the calling thread until a time of the clock of now, which may have
// passed. The Go runtime is not told: it would watch the thread for a millisecond after
// each wait, every 20 microseconds, and that takes a tenth of the core.
func waitUntil(t time.Duration) error {
	until := unix.NsecToTimespec(t.Nanoseconds())
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP,
			unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&until)), 0, 0, 0)
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return fmt.Errorf("waiting: %w", errno)
		}
	}
}

// onCore runs f while the calling thread may only run on one core; processes that f
// starts stay there. The caller has locked the goroutine to its thread.
func onCore(core int, f func() error) (err error) {
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("reading the cores of the process: %w", err)
	}
	only.Set(core)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return fmt.Errorf("moving to core %d: %w", core, err)
	}
	defer func() { err = errors.Join(err, unix.SchedSetaffinity(0, &before)) }()
	return f()
}
