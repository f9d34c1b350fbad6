package chart

import (
	"bytes"
	"fmt"
	"io"

	"loadline.dev/loadline/pkg/report/file"
)

// WriteFile draws a chart into a file, SVG or PNG by its extension. An existing file is replaced at
// once and as a whole: after any error it is unchanged, and no partial file is left behind.
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
