package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// WritePage writes a page into a file, as [WriteChart] does a chart. The file's
// name must end in .html or .htm.
func WritePage(path string, page Page) error {
	if err := CheckPagePath(path); err != nil {
		return err
	}
	var content bytes.Buffer
	if err := EncodePage(&content, page); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replaceFile(path, content.Bytes())
}

// CheckPagePath refuses file names that [WritePage] refuses. Call it before a
// long computation whose result is to be reported.
func CheckPagePath(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm":
		return nil
	default:
		return fmt.Errorf("%s: a report's file name must end in .html or .htm", path)
	}
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
