// Package file writes files as a whole or not at all.
package file

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace writes a file beside path and renames it into place once it is whole: after any error the
// old file is unchanged, and no partial file is left behind. Others may read the file. The error is
// write's, or that of the file.
func Replace(path string, write func(io.Writer) error) error {
	beside, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(beside)
	err = errors.Join(write(buffered), buffered.Flush(), beside.Chmod(0o644), beside.Sync(), beside.Close())
	if err == nil {
		err = os.Rename(beside.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside.Name()))
	}
	return nil
}
