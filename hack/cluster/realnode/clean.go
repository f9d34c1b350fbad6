//go:build linux

package realnode

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Clean removes what a process has left on this machine that had real nodes in dir, [Options].Dir, and did not get to
// Release them. When a process has nodes there, Clean waits for it to end.
func Clean(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) { // it is what Release removes last
		return nil
	}
	lock := flock.New(lockFile)
	ours, err := lock.TryLock()
	if err != nil {
		return err
	}
	if !ours {
		holder, err := os.ReadFile(lockFile)
		if err != nil {
			return err
		}
		if string(holder) != dir { // whose Claim has removed everything else
			return os.RemoveAll(dir)
		}
		if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.Join(removeRemains(dir), lock.Unlock())
}

// removeRemains removes everything that may be left. We must hold the machine.
func removeRemains(dir string) error {
	return errors.Join(unplug(), ourCgroup.Remove(), os.RemoveAll(dir))
}
