package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
)

// place is where two of a pair run.
type place string

// The places.
const (
	apart  place = "apart"  // on a processor each
	shared place = "shared" // on one processor
)

// row is what one program, or one unit of a standard job, took on average in a slice.
type row struct {
	round    int
	target   string
	beside   string // a program, a standard job, or nothing
	pressure float64
	where    place
	wall     float64 // seconds
	cpu      float64 // seconds of processor time
}

// header names the columns.
func header() []string {
	return []string{"round", "target", "beside", "pressure", "where", "wall", "cpu"}
}

// appendTo opens a file for more rows.
func appendTo(path string) (add func(...row) error, done func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	w := csv.NewWriter(file)
	if info.Size() == 0 {
		if err := w.Write(header()); err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
	}
	add = func(rows ...row) error {
		for _, r := range rows {
			number := func(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
			if err := w.Write([]string{strconv.Itoa(r.round), r.target, r.beside, number(r.pressure), string(r.where), number(r.wall), number(r.cpu)}); err != nil {
				return err
			}
		}
		w.Flush()
		return w.Error()
	}
	return add, file.Close, nil
}

// readFile reads the rows of a file.
func readFile(path string) (rows []row, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return readRows(file)
}

// readRows reads what was recorded. Errors name the line.
func readRows(from io.Reader) (rows []row, err error) {
	lines := csv.NewReader(from)
	lines.FieldsPerRecord = len(header())
	first, err := lines.Read()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(first, header()) {
		return nil, fmt.Errorf("the columns are %q, want %q", first, header())
	}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		r := row{target: fields[1], beside: fields[2], where: place(fields[4])}
		r.round, err = strconv.Atoi(fields[0])
		for i, to := range map[int]*float64{3: &r.pressure, 5: &r.wall, 6: &r.cpu} {
			var failed error
			*to, failed = strconv.ParseFloat(fields[i], 64)
			err = errors.Join(err, failed)
		}
		line, _ := lines.FieldPos(0)
		if err != nil || !(r.cpu > 0 && r.wall > 0) || math.IsInf(r.wall+r.cpu, 1) || !(r.pressure >= 0 && r.pressure <= 1) {
			return nil, errors.Join(fmt.Errorf("line %d: times are not above 0, or a pressure is not from 0 to 1: %q", line, fields), err)
		}
		rows = append(rows, r)
	}
}
