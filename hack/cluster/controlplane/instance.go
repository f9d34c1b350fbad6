package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
)

// ErrNotRunning is returned by [Find] when no control plane runs in the folder.
var ErrNotRunning = errors.New("no control plane is running")

// Instance is a control plane that some process runs in a folder.
type Instance struct {
	// PID is the process that called [Start].
	PID int
	// Kubeconfig is the path of its kubeconfig file, or "" while it is starting.
	Kubeconfig string

	dir folder
}

// Find looks for the control plane that runs in the folder dir ([Options].Dir), which any process may have started. The error is
// [ErrNotRunning] when there is none.
func Find(dir string) (*Instance, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f := folder(dir)
	lock := flock.New(f.lockFile(), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryLock()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRunning)
	case err != nil:
		return nil, err
	case free:
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, ErrNotRunning), lock.Unlock())
	}

	content, err := os.ReadFile(f.lockFile())
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(string(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %q is not a process id", f.lockFile(), content)
	}
	instance := &Instance{PID: pid, dir: f}
	if _, err := os.Stat(f.kubeconfig()); err == nil {
		instance.Kubeconfig = f.kubeconfig()
	}
	return instance, nil
}

// AwaitEnd returns when the control plane is gone, or with the reason why ctx ended before.
func (i *Instance) AwaitEnd(ctx context.Context) error {
	lock := flock.New(i.dir.lockFile())
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return err
	}
	return lock.Unlock()
}
