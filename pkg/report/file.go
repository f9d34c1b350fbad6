package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteChart draws a chart into a file, SVG or PNG by its extension. A file
// that is there is replaced at once and as a whole: whatever goes wrong, it
// stays as it was, and nothing half written is left behind.
func WriteChart(path string, chart Chart) error {
	format, err := FormatOf(path)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := EncodeChart(&content, chart, format); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replaceFile(path, content.Bytes())
}

// replaceFile writes a file beside path and renames it into place.
func replaceFile(path string, content []byte) error {
	beside, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = writeAndClose(beside, content)
	if err == nil {
		err = os.Rename(beside.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside.Name()))
	}
	return nil
}

func writeAndClose(file *os.File, content []byte) error {
	_, err := file.Write(content)
	// A new temporary file is for its owner only; a report is for others too.
	return errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
}
