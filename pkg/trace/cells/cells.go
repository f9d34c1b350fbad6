// Package cells writes the rows of CSV files so that spreadsheets take them for data.
//
// A spreadsheet computes a cell that begins with =, +, - or @, and some begin a program by
// that; names of jobs and nodes are from outside. So a [Writer] takes cells that are made
// either of a [Text], which is marked as text by an apostrophe where it could be taken for a
// formula, or of a number, which stays one. [Plain] takes the mark away from what was written
// that way.
package cells

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// Cell is a cell of a row. The zero value is empty.
type Cell struct{ content string }

// mark is what spreadsheets know text by.
const mark = "'"

// formulas are the characters by which spreadsheets know a formula; some skip space
// before them, and some take those of full width for the others.
const formulas = "=+-@\t\r\n＝＋－＠"

// Text returns a cell of text.
func Text(s string) Cell {
	if isFormula(s) {
		return Cell{mark + s}
	}
	return Cell{s}
}

// Number returns a cell with a number, to as many digits as times since the start of a long
// trace need.
func Number(x float64) Cell { return Cell{strconv.FormatFloat(x, 'g', 15, 64)} }

// Exactly returns a cell with a number of which no digit may be lost.
func Exactly(x float64) Cell { return Cell{strconv.FormatFloat(x, 'f', -1, 64)} }

// Count returns a cell with a whole number.
func Count(n int) Cell { return Cell{strconv.Itoa(n)} }

// IsEmpty reports whether the cell has no content.
func (c Cell) IsEmpty() bool { return c.content == "" }

// Plain returns the text that [Text] made a cell of, by the content of the cell.
func Plain(content string) string {
	if rest, marked := strings.CutPrefix(content, mark); marked && isFormula(rest) {
		return rest
	}
	return content
}

// isFormula reports whether text begins as a formula does, or would once marks are taken
// away: with those one more is put before it, so that there is one to take away.
func isFormula(s string) bool {
	s = strings.TrimLeft(s, mark)
	return strings.IndexAny(strings.TrimLeft(s, " "), formulas) == 0
}

// Writer writes rows. It is to be flushed after the last one.
type Writer struct{ rows *csv.Writer }

// NewWriter returns a writer of rows to out.
func NewWriter(out io.Writer) *Writer { return &Writer{csv.NewWriter(out)} }

// Write writes a row.
func (w *Writer) Write(row ...Cell) error {
	contents := make([]string, len(row))
	for i, cell := range row {
		contents[i] = cell.content
	}
	return w.rows.Write(contents)
}

// Header writes a row of names of columns.
func (w *Writer) Header(columns ...string) error {
	row := make([]Cell, len(columns))
	for i, column := range columns {
		row[i] = Text(column)
	}
	return w.Write(row...)
}

// Flush writes what is buffered. The error is that of this or of an earlier call.
func (w *Writer) Flush() error {
	w.rows.Flush()
	return w.rows.Error()
}
