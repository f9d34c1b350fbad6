package recording

import (
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"loadline.dev/loadline/pkg/report/file"
)

// replaceTrace replaces a file as a whole. A name that ends in .gz is compressed.
func replaceTrace(path string, write func(io.Writer) error) error {
	return file.Replace(path, func(out io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return write(out)
		}
		zipped := gzip.NewWriter(out)
		return errors.Join(write(zipped), zipped.Close())
	})
}
