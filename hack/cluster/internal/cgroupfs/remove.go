// Package cgroupfs makes cgroups, gives them processors and weights, and removes them: those of version 2, or those of version 1
// in each of its hierarchies.
package cgroupfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTree removes a cgroup and those within it, if it is there: files in them vanish with them. It fails while there are
// processes in one of them.
func RemoveTree(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := RemoveTree(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := os.Remove(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
