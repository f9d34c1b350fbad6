//go:build amd64 || arm64

package probe

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Now returns the time of CLOCK_BOOTTIME in nanoseconds.
func Now() (int64, error) { return readClock(unix.CLOCK_BOOTTIME) }

// cpuTime returns how many nanoseconds the threads of the process have run.
func cpuTime() (int64, error) { return readClock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// threadTime returns how many nanoseconds the calling thread has run.
func threadTime() (int64, error) { return readClock(unix.CLOCK_THREAD_CPUTIME_ID) }

// usableProcessors returns which processors the process may use.
func usableProcessors() (*unix.CPUSet, error) {
	set := &unix.CPUSet{}
	if err := unix.SchedGetaffinity(0, set); err != nil {
		return nil, fmt.Errorf("finding the processors that may be used: %w", err)
	}
	return set, nil
}

func readClock(clock uintptr) (int64, error) {
	var t unix.Timespec
	_, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0) //nolint:gosec // a system call takes an address
	if errno != 0 {
		return 0, fmt.Errorf("reading clock %d: %w", clock, errno)
	}
	return t.Nano(), nil
}

// sleepUntil blocks the calling thread until a time of [Now]. A signal may wake it early.
func sleepUntil(t int64) error {
	until := unix.NsecToTimespec(t)
	_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_BOOTTIME, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&until)), 0, 0, 0) //nolint:gosec // a system call takes an address
	if errno != 0 && errno != syscall.EINTR {
		return fmt.Errorf("waiting: %w", errno)
	}
	return nil
}

// awaitTime returns at a time of [Now], sooner after it than a timer of Go. Meanwhile
// others may have the processor of the calling goroutine.
func awaitTime(t int64) error {
	until := unix.NsecToTimespec(t)
	for {
		err := unix.ClockNanosleep(unix.CLOCK_BOOTTIME, unix.TIMER_ABSTIME, &until, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// bootID returns the kernel's boot id.
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}

// pin keeps the calling goroutine on its thread for good, and the thread on one processor: the thread ends with the
// goroutine.
func pin(processor int) error {
	runtime.LockOSThread()
	set := &unix.CPUSet{}
	set.Set(processor)
	if err := unix.SchedSetaffinity(0, set); err != nil {
		return fmt.Errorf("staying on processor %d: %w", processor, err)
	}
	return nil
}
