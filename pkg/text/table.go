package text

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Column is a column of a [Table]: its header and the side its cells keep to.
// Make one with [Left] or [Right].
type Column struct {
	header string
	right  bool
}

// Left is a column of words.
func Left(header string) Column { return Column{header: header} }

// Right is a column of numbers.
func Right(header string) Column { return Column{header: header, right: true} }

// Table collects rows and prints them in aligned columns, three spaces apart.
// Nothing is wrapped; lines carry no trailing spaces. What cannot be seen in cells is
// printed as [Printable] escapes it, and of a cell of more than a thousand characters the
// beginning: one long name must not make all rows wide. The zero value prints nothing; make
// a table with [NewTable].
type Table struct {
	// NoHeader leaves the header line out.
	NoHeader bool

	columns []Column
	rows    [][]string
}

// longestCell is how many characters of a cell are printed.
const longestCell = 1000

// NewTable returns a table without rows.
func NewTable(columns ...Column) *Table { return &Table{columns: columns} }

// Add appends a row. A row with fewer cells than the table has columns ends in
// a remark: its last cell starts at its column's left, runs on over the columns
// that follow, and widens none. Add panics if there are more cells than
// columns.
func (t *Table) Add(cells ...string) {
	if len(cells) > len(t.columns) {
		panic(fmt.Sprintf("text: a row of %d cells in a table of %d columns", len(cells), len(t.columns)))
	}
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = Abridged(Printable(cell), longestCell)
	}
	t.rows = append(t.rows, row)
}

// Write prints the table to w in one call. The error is w's.
func (t *Table) Write(w io.Writer) error {
	rows := t.rows
	if !t.NoHeader && len(t.columns) > 0 {
		rows = append([][]string{t.header()}, rows...)
	}
	widths := t.widths(rows)
	var b bytes.Buffer
	for _, row := range rows {
		b.WriteString(t.line(row, widths))
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (t *Table) header() []string {
	header := make([]string, len(t.columns))
	for i, column := range t.columns {
		header[i] = Printable(column.header)
	}
	return header
}

func (t *Table) widths(rows [][]string) []int {
	widths := make([]int, len(t.columns))
	for _, row := range rows {
		for i, cell := range row {
			if !t.isRemark(row, i) {
				widths[i] = max(widths[i], displayWidth(cell))
			}
		}
	}
	return widths
}

// isRemark reports whether cell i ends a row that is shorter than the table.
func (t *Table) isRemark(row []string, i int) bool {
	return i == len(row)-1 && len(row) < len(t.columns)
}

func (t *Table) line(row []string, widths []int) string {
	const gap = "   "
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(gap)
		}
		padding := strings.Repeat(" ", max(0, widths[i]-displayWidth(cell)))
		if t.columns[i].right && !t.isRemark(row, i) {
			b.WriteString(padding + cell)
		} else {
			b.WriteString(cell + padding)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// displayWidth counts the terminal cells of s: two for East Asian wide characters,
// none for marks that join the character before them.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func isWide(r rune) bool {
	kind := width.LookupRune(r).Kind()
	return kind == width.EastAsianWide || kind == width.EastAsianFullwidth
}
