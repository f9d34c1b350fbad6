package mixes

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// column is a column of a table: its name, and the field of a row that it holds.
type column struct {
	name  string
	field func(r *Row) any // *string, *int, *float64, *bool or *Kind
}

// given are the columns of a table of mixes.
var given = []column{
	{"mix", func(r *Row) any { return &r.Mix }},
	{"seconds", func(r *Row) any { return &r.Seconds }},
	{"pod", func(r *Row) any { return &r.Pod }},
	{"request", func(r *Row) any { return &r.Request }},
	{"limit", func(r *Row) any { return &r.Limit }},
	{"spare", func(r *Row) any { return &r.Spare }},
	{"loading", func(r *Row) any { return &r.Loading }},
	{"burst_ms", func(r *Row) any { return &r.Burst }},
	{"threads", func(r *Row) any { return &r.Threads }},
	{"kind", func(r *Row) any { return &r.Kind }},
	{"forks", func(r *Row) any { return &r.Forks }},
	{"seed", func(r *Row) any { return &r.Seed }},
}

// found are the further columns of a table of results.
var found = slices.Concat([]column{
	{"kernel", func(r *Row) any { return &r.Kernel }},
	{"hz", func(r *Row) any { return &r.HZ }},
	{"slice_ns", func(r *Row) any { return &r.Slice }},
	{"processors", func(r *Row) any { return &r.Processors }},
	{"cgroup", func(r *Row) any { return &r.Cgroup }},
	{"weight", func(r *Row) any { return &r.Weight }},
	{"alone_seconds", func(r *Row) any { return &r.AloneSeconds }},
},
	account("alone_", func(r *Row) *Account { return &r.Alone }),
	account("", func(r *Row) *Account { return &r.Together }),
	[]column{{"dilation", func(r *Row) any { return &r.Dilation }}})

// account returns the columns of an account.
func account(prefix string, of func(r *Row) *Account) []column {
	return []column{
		{prefix + "own", func(r *Row) any { return &of(r).Own }},
		{prefix + "computed", func(r *Row) any { return &of(r).Computed }},
		{prefix + "bursts", func(r *Row) any { return &of(r).Bursts }},
		{prefix + "run", func(r *Row) any { return &of(r).Run }},
		{prefix + "wait", func(r *Row) any { return &of(r).Wait }},
		{prefix + "sleep", func(r *Row) any { return &of(r).Sleep }},
		{prefix + "slices", func(r *Row) any { return &of(r).Slices }},
		{prefix + "periods", func(r *Row) any { return &of(r).Periods }},
		{prefix + "throttled", func(r *Row) any { return &of(r).Throttled }},
		{prefix + "held", func(r *Row) any { return &of(r).Held }},
	}
}

// Write writes a table of mixes.
func Write(w io.Writer, rows []Row) error { return write(w, given, rows) }

// WriteResults writes a table of results.
func WriteResults(w io.Writer, rows []Row) error { return write(w, slices.Concat(given, found), rows) }

func write(w io.Writer, columns []column, rows []Row) error {
	out := csv.NewWriter(w)
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	if err := out.Write(names); err != nil {
		return err
	}
	for i := range rows {
		cells := make([]string, len(columns))
		for k, c := range columns {
			cells[k] = format(c.field(&rows[i]))
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Read reads a table of mixes, or of results. What it returns is valid.
func Read(r io.Reader) ([]Row, error) {
	in := csv.NewReader(r)
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	columns, err := columnsOf(header)
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	var rows []Row
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, validateMixes(rows)
		}
		if err != nil {
			return nil, err
		}
		var row Row
		line, _ := in.FieldPos(0)
		for k, c := range columns {
			if err := parse(cells[k], c.field(&row)); err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", line, c.name, err)
			}
		}
		if err := row.validate(); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, row)
	}
}

// columnsOf returns the columns that a header names: all of those of mixes, in any order, and any of those of results.
func columnsOf(header []string) ([]column, error) {
	var columns []column
	for k, name := range header {
		all := slices.Concat(given, found)
		i := slices.IndexFunc(all, func(c column) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no column %q", name)
		}
		if slices.Contains(header[:k], name) {
			return nil, fmt.Errorf("the column %q is there twice", name)
		}
		columns = append(columns, all[i])
	}
	for _, c := range given {
		if !slices.Contains(header, c.name) {
			return nil, fmt.Errorf("the column %q is missing", c.name)
		}
	}
	return columns, nil
}

// decimals is how many a cell has: no number that was measured is known better.
const decimals = 4

func format(field any) string {
	switch f := field.(type) {
	case *string:
		return *f
	case *Kind:
		return string(*f)
	case *bool:
		return strconv.FormatBool(*f)
	case *int:
		return strconv.Itoa(*f)
	case *float64:
		shift := math.Pow10(decimals)
		return strconv.FormatFloat(math.Round(*f*shift)/shift, 'f', -1, 64)
	default:
		panic(fmt.Sprintf("a column of %T", field))
	}
}

func parse(cell string, field any) (err error) {
	switch f := field.(type) {
	case *string:
		*f = cell
	case *Kind:
		*f = Kind(cell)
	case *bool:
		*f, err = strconv.ParseBool(cell)
		if err != nil {
			err = fmt.Errorf("%q is neither true nor false", cell)
		}
	case *int:
		if *f, err = strconv.Atoi(cell); err != nil {
			err = fmt.Errorf("%q is not a whole number", cell)
		}
	case *float64:
		if *f, err = strconv.ParseFloat(cell, 64); err != nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
			err = fmt.Errorf("%q is not a finite number", cell)
		}
	default:
		panic(fmt.Sprintf("a column of %T", field))
	}
	return err
}
