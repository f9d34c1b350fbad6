package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns how long the calling thread has run.
func cpuTime() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the processor time of the thread: %w", err)
	}
	return time.Duration(t.Nano()), nil
}

// sleepPrecisely has the kernel wake the calling thread when it is time and not some 50 microseconds later.
func sleepPrecisely() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting the slack of timers: %w", err)
	}
	return nil
}

// sleep blocks the calling thread. The Go runtime is not told: what it does meanwhile would be no part of the job.
func sleep(d time.Duration) {
	for left := unix.NsecToTimespec(max(0, d.Nanoseconds())); left.Sec > 0 || left.Nsec > 0; {
		var rest unix.Timespec
		if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &left, &rest); err != unix.EINTR {
			return
		}
		left = rest
	}
}
