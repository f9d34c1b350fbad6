package cli

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// replaceFile writes a file beside path and renames it into place once it is whole:
// whatever goes wrong, what was there stays. A name that ends in .gz is compressed.
func replaceFile(path string, write func(io.Writer) error) error {
	beside, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(writeContent(beside, strings.HasSuffix(path, ".gz"), write), beside.Chmod(0o644), beside.Sync(), beside.Close())
	if err == nil {
		err = os.Rename(beside.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside.Name()))
	}
	return nil
}

func writeContent(out io.Writer, compress bool, write func(io.Writer) error) error {
	if compress {
		zipped := gzip.NewWriter(out)
		return errors.Join(write(zipped), zipped.Close())
	}
	buffered := bufio.NewWriter(out)
	return errors.Join(write(buffered), buffered.Flush())
}
