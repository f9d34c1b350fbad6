//go:build !linux

package reading

import (
	"errors"
	"io/fs"
	"os"
)

// readWhole returns the content of a file.
func readWhole(path string, _ []byte, _ int) ([]byte, error) { return os.ReadFile(path) }

// readRecord is readWhole.
func readRecord(path string, _ []byte) ([]byte, error) { return os.ReadFile(path) }

// directories appends the names of the directories in a directory.
func directories(path string, _ []byte, names []string) ([]string, error) {
	found, err := os.ReadDir(path)
	for _, entry := range found {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// deviceNumber finds no device.
func deviceNumber(string) (Number, bool) { return Number{}, false }

// gone reports whether an error means that the task or the control group is no more.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
