package chart

import (
	"bytes"
	"fmt"
	"io"

	"loadline.dev/loadline/pkg/report/file"
)

// WriteFile draws a chart into a file, SVG or PNG by its extension. A file
// that is there is replaced at once and as a whole: whatever goes wrong, it
// stays as it was, and nothing half written is left behind.
func WriteFile(path string, chart Chart) error {
	format, err := FormatOf(path)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := Encode(&content, chart, format); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return file.Replace(path, func(w io.Writer) error { _, err := content.WriteTo(w); return err })
}
