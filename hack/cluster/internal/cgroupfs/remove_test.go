package cgroupfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Folders stand in for cgroups. One with a file in it cannot be removed, as a cgroup with a process.

func TestACgroupIsRemovedWithThoseWithinIt(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	ours, other := filepath.Join(parent, "ours"), filepath.Join(parent, "other")
	for _, folder := range []string{filepath.Join(ours, "pods", "a"), filepath.Join(ours, "pods", "b"), filepath.Join(ours, "system"), other} {
		makeFolder(t, folder)
	}
	for range 2 { // the second time there is nothing to do
		if err := RemoveTree(ours); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("left: %v, %v, want the other one alone", left, err)
	}
}

func TestACgroupThatIsInUseIsKeptAndNamed(t *testing.T) {
	t.Parallel()
	ours := filepath.Join(t.TempDir(), "ours")
	busy := filepath.Join(ours, "pods", "busy")
	makeFolder(t, busy)
	if err := os.WriteFile(filepath.Join(busy, "process"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTree(ours); err == nil || !strings.Contains(err.Error(), busy) {
		t.Errorf("got %v, want an error that names %s", err, busy)
	}
	if _, err := os.Stat(busy); errors.Is(err, os.ErrNotExist) {
		t.Error("it is gone")
	}
}

func makeFolder(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}
