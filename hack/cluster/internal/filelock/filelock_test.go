package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"loadline.dev/loadline/hack/cluster/internal/filelock"
)

func TestAHeldLockIsRefusedUntilItIsReleased(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first := take(t, path)

	if _, err := filelock.Try(path); !errors.Is(err, filelock.ErrHeld) {
		t.Fatalf("Try on a held lock: got %v, want ErrHeld", err)
	}
	unlock(t, first)
	unlock(t, take(t, path))
}

func TestWaitTakesTheLockWhenItsHolderLetsGo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first := take(t, path)

	taken := make(chan error)
	go func() {
		lock, err := filelock.Wait(t.Context(), path)
		if err == nil {
			err = lock.Unlock()
		}
		taken <- err
	}()
	unlock(t, first)
	if err := <-taken; err != nil {
		t.Errorf("Wait: %v", err)
	}
}

func TestWaitGivesUpWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	defer unlock(t, take(t, path))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filelock.Wait(ctx, path); !errors.Is(err, context.Canceled) || !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("Wait with a cancelled context: got %v, want both why it waited and why it stopped", err)
	}
}

func TestSetContentReplacesWhatTheFileHeld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	lock := take(t, path)
	defer unlock(t, lock)

	for _, text := range []string{"a longer note", "short"} {
		if err := lock.SetContent(text); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != text {
			t.Errorf("the lock's file holds %q, want %q", got, text)
		}
	}
}

func take(t *testing.T, path string) *filelock.Lock {
	t.Helper()
	lock, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func unlock(t *testing.T, lock *filelock.Lock) {
	t.Helper()
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}
