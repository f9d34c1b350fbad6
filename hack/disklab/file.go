package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// save writes a recording, in the place of an earlier one when all is written.
func save(path string, r *recording) (err error) {
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
		return json.NewEncoder(file).Encode(r)
	}
	compressor, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(compressor).Encode(r), compressor.Close())
}

// load reads a recording.
func load(path string) (*recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	r := &recording{}
	if err := json.NewDecoder(in).Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
