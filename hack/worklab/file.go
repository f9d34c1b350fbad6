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

// save writes what came of cases.
func save(path string, outcomes []outcome) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var w io.Writer = file
	if strings.HasSuffix(path, ".gz") {
		packed := gzip.NewWriter(file)
		defer func() { err = errors.Join(err, packed.Close()) }()
		w = packed
	}
	return json.NewEncoder(w).Encode(outcomes)
}

// load reads what came of cases, and judges it.
func load(path string) (outcomes []outcome, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := json.NewDecoder(r).Decode(&outcomes); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range outcomes {
		if o := &outcomes[i]; len(o.Pieces) != len(o.Series) {
			return nil, fmt.Errorf("%s: case %d (%s): %d pieces of %d slots", path, i, o.Name, len(o.Pieces), len(o.Series))
		}
		outcomes[i].judge()
	}
	return outcomes, nil
}
