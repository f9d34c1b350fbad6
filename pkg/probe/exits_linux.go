//go:build amd64 || arm64

package probe

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// exits waits for processes to end.
type exits struct {
	pidfds map[int]int // by pid
	polled []unix.PollFd
}

// wait returns when one of the processes has ended, and at the latest after a while. A
// signal may end it early.
func (e *exits) wait(pids []int, atMost time.Duration) error {
	if err := e.open(pids); err != nil {
		return err
	}
	e.polled = e.polled[:0]
	for _, fd := range e.pidfds {
		e.polled = append(e.polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	timeout := unix.NsecToTimespec(atMost.Nanoseconds())
	_, _, errno := unix.RawSyscall6(unix.SYS_PPOLL,
		uintptr(unsafe.Pointer(unsafe.SliceData(e.polled))), uintptr(len(e.polled)), //nolint:gosec // a system call takes an address
		uintptr(unsafe.Pointer(&timeout)), 0, 0, 0) //nolint:gosec // a system call takes an address
	if errno != 0 && errno != syscall.EINTR {
		return fmt.Errorf("waiting for processes to end: %w", errno)
	}
	return nil
}

// open keeps a descriptor for each of the processes that are there, and no other.
func (e *exits) open(pids []int) error {
	if e.pidfds == nil {
		e.pidfds = map[int]int{}
	}
	for pid, fd := range e.pidfds {
		if !slices.Contains(pids, pid) {
			delete(e.pidfds, pid)
			if err := unix.Close(fd); err != nil {
				return err
			}
		}
	}
	for _, pid := range pids {
		if _, ok := e.pidfds[pid]; ok {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			return fmt.Errorf("opening process %d: %w", pid, err)
		}
		e.pidfds[pid] = fd
	}
	return nil
}

func (e *exits) close() error { return e.open(nil) }
