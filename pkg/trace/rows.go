package trace

import (
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unique"
)

// rowReader hands out rows, each valid until the call after, and io.EOF after
// the last one.
type rowReader interface {
	next() (*row, error)
}

// readRows makes a record of each row, unless parse says not to keep it. The
// sequence ends with the first error.
func readRows[T any](open func() (rowReader, error), parse func(*row) (record T, keep bool)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := open()
		if err != nil {
			yield(none, err)
			return
		}
		for {
			r, err := rows.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(none, err)
				return
			}
			record, keep := parse(r)
			if r.err != nil {
				yield(none, r.err)
				return
			}
			if keep && !yield(record, nil) {
				return
			}
		}
	}
}

// table finds the wanted columns of a CSV table.
type table struct {
	lines *lines
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
	t := &table{lines: l}
	err = t.readHeader()
	if errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Rule: "is empty; want a header row with the columns " + strings.Join(columns, ", ")}
	}
	if err != nil {
		return nil, err
	}
	return t, t.findColumns(columns)
}

// readHeader puts the names of all columns into t.cells. It returns io.EOF if
// there is no header.
func (t *table) readHeader() error {
	header, err := t.lines.next()
	if err != nil {
		return err
	}
	return t.split(header)
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
			"; it must have " + strings.Join(columns, ", ") + hint(strings.Join(t.cells, ","), Openb))
	}
	t.row = row{file: t.lines.file, columns: columns, cells: make([]string, len(columns))}
	return nil
}

// next is a rowReader's. A table without rows is an error: nothing could be
// said about it.
func (t *table) next() (*row, error) {
	line, err := t.lines.next()
	if errors.Is(err, io.EOF) && t.row.number == 0 {
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
	t.row.number++
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
	line    int // in the file
	number  int // among the rows, from 1
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

// rejectNamed records the flaw of a record whose columns are named as in the file.
func (r *row) rejectNamed(f *flaw) {
	if column := slices.Index(r.columns, f.column); column >= 0 {
		r.reject(column, f.rule)
		return
	}
	r.rejectWhole(f.column + " " + f.rule)
}

// rejectWhole records that a row breaks a rule that is not about one cell.
func (r *row) rejectWhole(rule string) {
	if r.err == nil {
		r.err = &Error{File: r.file, Line: r.line, Rule: rule}
	}
}

// name returns a cell that must not be empty.
func (r *row) name(column int) string {
	if r.cells[column] == "" {
		r.reject(column, "must not be empty")
	}
	if !printable(r.cells[column]) {
		r.reject(column, notPrintable)
	}
	return strings.Clone(r.cells[column]) // the row itself is not kept alive
}

// word returns a cell that takes few different values.
func (r *row) word(column int) string {
	if !printable(r.cells[column]) {
		r.reject(column, notPrintable)
	}
	return intern(r.cells[column])
}

// intern returns a text of which there are few different ones, each stored once.
func intern(text string) string { return unique.Make(text).Value() }

// optional returns a cell, empty if the table has no such column.
func (r *row) optional(column int) string {
	if column < 0 {
		return ""
	}
	return r.cells[column]
}

// decimalOr returns a number that the table, or the row, may not have.
func (r *row) decimalOr(column int, otherwise float64) float64 {
	if cell := r.optional(column); cell != "" {
		return decimal(cell)
	}
	return otherwise
}

// decimalMoment is decimalOr for what may never have happened.
func (r *row) decimalMoment(column int) Moment {
	if r.optional(column) == "" {
		return Moment{}
	}
	return Moment{At: decimal(r.cells[column]), Happened: true}
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

// seconds returns a cell that counts whole seconds since the start of the trace.
func (r *row) seconds(column int) float64 { return float64(r.whole(column, maxSeconds)) }

// moment is seconds for what may never have happened: then the cell is empty.
func (r *row) moment(column int) Moment {
	if r.cells[column] == "" {
		return Moment{}
	}
	return Moment{At: r.seconds(column), Happened: true}
}
