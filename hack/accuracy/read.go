package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/model/fit"
)

// set is a data set that models are measured on.
type set interface {
	// measure returns the errors of all models.
	measure() ([]row, error)
	// notes say what is to be known about it.
	notes() []string
}

// read reads the data sets of a file.
func read(name string, cpus int) ([]set, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(name)
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return readPairs(base, data)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	header, _, _ := strings.Cut(string(data), "\n")
	columns := strings.Split(strings.TrimSpace(header), ",")
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	switch {
	case slices.Contains(columns, "dilation"):
		runs, _, err := fit.Read(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return []set{runSet{name: base, resource: "all", runs: runs}}, nil
	case slices.Equal(columns, stressorColumns):
		return readStressors(base, data)
	case slices.Equal(columns, threadColumns):
		return readThreads(base, data, cpus)
	}
	return nil, fmt.Errorf("line 1: %q is not a header of a known format: run,job,dilation; %s; %s",
		strings.TrimSpace(header), strings.Join(stressorColumns, ","), strings.Join(threadColumns, ","))
}

// record is a row of a file of times.
type record struct {
	line      int
	job, kind string // the kind is a stressor or a number of threads
	real, cpu float64
	user      float64
}

// readTimes reads the records of a file with a job, a kind, and times. Each job and kind stands once.
func readTimes(data []byte, columns []string) ([]record, error) {
	reader := csv.NewReader(bytes.NewReader(data))
	reader.TrimLeadingSpace = true
	if _, err := reader.Read(); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	var all []record
	seen := map[[2]string]int{}
	for {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err // names the line
		}
		line, _ := reader.FieldPos(0)
		r := record{line: line, job: strings.TrimSpace(fields[0]), kind: strings.TrimSpace(fields[1])}
		for i, v := range []string{r.job, r.kind} {
			if v == "" {
				return nil, fmt.Errorf("line %d: %s: is empty", line, columns[i])
			}
		}
		if before, again := seen[[2]string{r.job, r.kind}]; again {
			return nil, fmt.Errorf("line %d: %s: %q of %q is on line %d already", line, columns[1], r.kind, r.job, before)
		}
		seen[[2]string{r.job, r.kind}] = line
		var times [3]float64
		for i := range times {
			text := strings.TrimSpace(fields[2+i])
			times[i], err = strconv.ParseFloat(text, 64)
			// System time may be too short to be seen.
			if err != nil || !(times[i] > 0 || i == 2 && times[i] == 0) || math.IsInf(times[i], 0) {
				return nil, fmt.Errorf("line %d: %s: %q is not a finite number of seconds above 0", line, columns[2+i], text)
			}
		}
		r.real, r.user, r.cpu = times[0], times[1], times[1]+times[2]
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, errors.New("line 2: there are no times")
	}
	return all, nil
}
