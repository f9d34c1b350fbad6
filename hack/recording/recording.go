// Package recording keeps what labs measured in files: JSON, compressed if the name of the file ends in .gz.
package recording

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Save writes a recording, in the place of an earlier one when all is written.
func Save(path string, recording any) (err error) {
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err == nil {
			err = os.Rename(path+".new", path)
		}
	}()
	if !strings.HasSuffix(path, ".gz") {
		return json.NewEncoder(file).Encode(recording)
	}
	compressor, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(compressor).Encode(recording), compressor.Close())
}

// Load reads a recording into what a pointer leads to.
func Load(path string, recording any) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := json.NewDecoder(in).Decode(recording); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
