package cli

import (
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"loadline.dev/loadline/pkg/report/file"
)

// replaceRecording replaces a file as a whole. A name that ends in .gz is compressed.
func replaceRecording(path string, write func(io.Writer) error) error {
	return file.Replace(path, func(out io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return write(out)
		}
		zipped := gzip.NewWriter(out)
		return errors.Join(write(zipped), zipped.Close())
	})
}
