package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"loadline.dev/loadline/pkg/report/file"
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
	return file.Replace(path, func(w io.Writer) error { _, err := content.WriteTo(w); return err })
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
	return file.Replace(path, func(w io.Writer) error { _, err := content.WriteTo(w); return err })
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
