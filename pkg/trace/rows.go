package trace

import (
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"
)

// readRows reads a CSV table whose header has at least the given columns and
// makes a record of each row. The sequence ends with the first error.
func readRows[T any](file string, in io.Reader, columns []string, parse func(*row) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		t, err := openTable(file, in, columns)
		if err != nil {
			yield(none, err)
			return
		}
		for {
			r, err := t.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(none, err)
				return
			}
			record := parse(r)
			if r.err != nil {
				yield(none, r.err)
				return
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// table finds the wanted columns of a CSV table.
type table struct {
	lines *lines
	rows  int
	width int   // columns in the file
	place []int // of each wanted column in the file
	cells []string
	row   row
}

func openTable(file string, in io.Reader, columns []string) (*table, error) {
	l, err := openLines(file, in)
	if err != nil {
		return nil, err
	}
	t := &table{lines: l, row: row{file: file, columns: columns, cells: make([]string, len(columns))}}
	header, err := l.next()
	if errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Rule: "is empty; want a header row with the columns " + strings.Join(columns, ", ")}
	}
	if err != nil {
		return nil, err
	}
	if err := t.split(header); err != nil {
		return nil, err
	}
	return t, t.findColumns(columns)
}

func (t *table) findColumns(columns []string) error {
	t.width = len(t.cells)
	var missing []string
	for _, column := range columns {
		place := slices.Index(t.cells, column)
		if place < 0 {
			missing = append(missing, column)
			continue
		}
		if slices.Contains(t.cells[place+1:], column) {
			return t.lines.wrong("the header has the column " + column + " twice")
		}
		t.place = append(t.place, place)
	}
	if len(missing) > 0 {
		return t.lines.wrong("the header lacks the columns " + strings.Join(missing, ", ") +
			"; it must have " + strings.Join(columns, ", "))
	}
	return nil
}

// next returns the next row, valid until the call after, and io.EOF after the
// last one. A table without rows is an error: nothing could be said about it.
func (t *table) next() (*row, error) {
	line, err := t.lines.next()
	if errors.Is(err, io.EOF) && t.rows == 0 {
		return nil, &Error{File: t.lines.file, Rule: "has a header but no rows"}
	}
	if err != nil {
		return nil, err
	}
	if err := t.split(line); err != nil {
		return nil, err
	}
	if len(t.cells) != t.width {
		return nil, t.lines.wrong("has " + strconv.Itoa(len(t.cells)) + " of " +
			strconv.Itoa(t.width) + " columns; each row must have as many as the header")
	}
	t.rows++
	t.row.line = t.lines.number
	for i, place := range t.place {
		t.row.cells[i] = t.cells[place]
	}
	return &t.row, nil
}

// split cuts a line into cells. Quoted cells are rare in traces and left to
// encoding/csv.
func (t *table) split(line string) error {
	t.cells = t.cells[:0]
	if strings.Contains(line, `"`) {
		cells, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil {
			return t.lines.wrong("the quotes do not match; a quoted value must end on its own line")
		}
		t.cells = append(t.cells, cells...)
		return nil
	}
	for cell := range strings.SplitSeq(line, ",") {
		t.cells = append(t.cells, cell)
	}
	return nil
}

// row is one row of a table; its methods turn cells into values. The first
// one that fails is kept in err, so that a record is read in one expression.
type row struct {
	file    string
	line    int
	columns []string
	cells   []string
	err     error
}

// reject records that a cell breaks a rule.
func (r *row) reject(column int, rule string) {
	if r.err == nil {
		r.err = &Error{File: r.file, Line: r.line, Column: r.columns[column], Value: r.cells[column], Rule: rule}
	}
}

// name returns a cell that must not be empty.
func (r *row) name(column int) string {
	if r.cells[column] == "" {
		r.reject(column, "must not be empty")
	}
	return strings.Clone(r.cells[column]) // the row itself is not kept alive
}

// word returns a cell that takes few different values, each stored once.
func (r *row) word(column int) string {
	return unique.Make(r.cells[column]).Value()
}

// whole returns a cell that must be a whole number from 0 to limit.
func (r *row) whole(column int, limit int64) int64 {
	n, err := strconv.ParseInt(r.cells[column], 10, 64)
	if err != nil || n < 0 || n > limit {
		r.reject(column, "must be a whole number from 0 to "+grouped(limit))
		return 0
	}
	return n
}

// maxSeconds is the longest time.Duration, 292 years, in seconds.
const maxSeconds = int64(1<<63-1) / int64(time.Second)

// seconds returns a cell that counts seconds since the start of the trace.
func (r *row) seconds(column int) time.Duration {
	return time.Duration(r.whole(column, maxSeconds)) * time.Second
}

// moment is seconds for what may never have happened: then the cell is empty.
func (r *row) moment(column int) Moment {
	if r.cells[column] == "" {
		return Moment{}
	}
	return Moment{At: r.seconds(column), Happened: true}
}
