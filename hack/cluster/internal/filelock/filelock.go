// Package filelock gives exclusive locks between processes.
//
// A lock is an advisory lock (flock) on a file. The kernel releases it when its holder ends, however it ends, so a
// lock is never left behind by a crash and there is no stale process id to guess about. The file itself stays:
// removing it would let two processes hold "the same" lock on two files.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrHeld is returned by [Try] when another process holds the lock.
var ErrHeld = errors.New("the lock is held")

// pollInterval is how often [Wait] tries again: flock itself could wait, but not give up when a context ends.
const pollInterval = 20 * time.Millisecond

// Lock is a held lock.
type Lock struct {
	file *os.File
}

// Try takes the lock at path, making the file when there is none, or returns [ErrHeld] at once.
// A second Try in the same process is refused like one in another process.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &Lock{file}, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
}

// Wait takes the lock at path, waiting until its holder lets go of it or ctx ends.
func Wait(ctx context.Context, path string) (*Lock, error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		lock, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", err, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// SetContent makes the lock's file hold text alone, a note to others about who holds the lock.
func (l *Lock) SetContent(text string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(text), 0)
	return err
}

// Unlock lets go of the lock. Unlocking twice is an error.
func (l *Lock) Unlock() error {
	return l.file.Close()
}
