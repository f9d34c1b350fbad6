package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// record is what is kept of a run, beside its samples.
type record struct {
	Began   time.Time       `json:"began"`
	Length  metav1.Duration `json:"length"`
	Cycle   metav1.Duration `json:"cycle"`
	WarmUp  metav1.Duration `json:"warmUp"`
	Every   metav1.Duration `json:"every"`
	Commit  string          `json:"commit"`
	Server  string          `json:"server"` // the version of Kubernetes
	Cores   int             `json:"cores"`
	Real    int             `json:"real"` // nodes
	Played  int             `json:"played"`
	Done    map[string]int  `json:"done"`
	Failed  map[string]int  `json:"failed"`
	Missed  map[string]int  `json:"missed"` // samples
	Changes int64           `json:"changes"`
	Told    int64           `json:"told"`
	Left    []string        `json:"left"` // what was there after all had been deleted
}

const (
	recordFile  = "run.json"
	samplesFile = "samples.jsonl"
	pageFile    = "soak.md"
)

// write writes the record into a folder.
func (r *record) write(dir string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, recordFile), append(content, '\n'), 0o600)
}

// read returns the record and the samples in a folder.
func read(dir string) (r *record, samples []sample, err error) {
	content, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, nil, err
	}
	r = &record{}
	if err := json.Unmarshal(content, r); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", recordFile, err)
	}
	file, err := os.Open(filepath.Join(dir, samplesFile))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	decoder := json.NewDecoder(bufio.NewReader(file))
	for {
		var s sample
		switch err := decoder.Decode(&s); {
		case errors.Is(err, io.EOF):
			return r, samples, nil
		case err != nil:
			return nil, nil, fmt.Errorf("%s: sample %d: %w", samplesFile, len(samples)+1, err)
		}
		samples = append(samples, s)
	}
}
