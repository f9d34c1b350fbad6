package text

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Column is a column of a [Table]: its header and the side its cells keep to.
// Make one with [Left], [Whole] or [Right].
type Column struct {
	header string
	right  bool
	whole  bool // cells are not shortened
}

// Left is a column of words, such as names, which may be shortened to the width of the table.
func Left(header string) Column { return Column{header: header} }

// Whole is a column of words that are never shortened, such as sentences.
func Whole(header string) Column { return Column{header: header, whole: true} }

// Right is a column of numbers.
func Right(header string) Column { return Column{header: header, right: true, whole: true} }

// Table collects rows and prints them in aligned columns, three spaces apart.
// Nothing is wrapped; lines carry no trailing spaces. What cannot be seen in cells is
// printed as [Printable] escapes it, and of a cell of more than a thousand characters the
// beginning: one long name must not make all rows wide. The zero value prints nothing; make
// a table with [NewTable].
type Table struct {
	// NoHeader leaves the header line out.
	NoHeader bool
	// Width is how many terminal cells lines may have; 0 is no limit. Where they would have more, columns of words are
	// shortened, the widest first, if they then fit. Else all is left as it is, since lines are broken anyway. Headers and
	// remarks are never shortened.
	Width int

	columns []Column
	rows    [][]string
	ratings map[int]rating // by the index of the row
}

// rating says how bad it is what the cell in a column says.
type rating struct {
	column   int
	severity Severity
}

// Severity is how bad it is what a cell says.
type Severity int

// The severities. Most cells are not rated.
const (
	Unrated Severity = iota
	Good
	Warning
	Bad
)

// Piece is a part of a line of a table, which has one severity.
type Piece struct {
	Text     string
	Severity Severity
}

const (
	// longestCell is how many characters of a cell are printed.
	longestCell = 1000
	// gap stands between columns.
	gap = "   "
)

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

// Rate says how bad it is what one cell of the last row says, that in a column. A second cell of the row takes its place.
func (t *Table) Rate(column int, s Severity) {
	if t.ratings == nil {
		t.ratings = map[int]rating{}
	}
	t.ratings[len(t.rows)-1] = rating{column, s}
}

// Write prints the table to w in one call. The error is w's.
func (t *Table) Write(w io.Writer) error {
	var b bytes.Buffer
	for _, line := range t.Lines() {
		for _, piece := range line {
			b.WriteString(piece.Text)
		}
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Lines returns the lines of the table, without their ends, in pieces by the severity of what they say.
func (t *Table) Lines() [][]Piece {
	var lines [][]Piece
	rows := t.fitted()
	widths := t.widths(rows)
	if header := t.printedHeader(); header != nil {
		line, _ := t.line(header, widths)
		lines = append(lines, []Piece{{Text: line}})
	}
	for i, row := range rows {
		line, begins := t.line(row, widths)
		rated, is := t.ratings[i]
		if !is || rated.column >= len(row) {
			lines = append(lines, []Piece{{Text: line}})
			continue
		}
		begin := min(begins[rated.column], len(line))
		end := min(begin+len(row[rated.column]), len(line))
		lines = append(lines, []Piece{{Text: line[:begin]}, {line[begin:end], rated.severity}, {Text: line[end:]}})
	}
	return lines
}

// printedHeader returns the cells of the header, nil where there is none.
func (t *Table) printedHeader() []string {
	if t.NoHeader || len(t.columns) == 0 {
		return nil
	}
	return t.header()
}

func (t *Table) header() []string {
	header := make([]string, len(t.columns))
	for i, column := range t.columns {
		header[i] = Printable(column.header)
	}
	return header
}

// widths returns the width of each column, of some rows.
func (t *Table) widths(rows [][]string) []int {
	widths := make([]int, len(t.columns))
	for i, cell := range t.printedHeader() {
		widths[i] = displayWidth(cell)
	}
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

// line returns a row in columns of some widths, and where each cell begins, in bytes.
func (t *Table) line(row []string, widths []int) (line string, begins []int) {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(gap)
		}
		padding := strings.Repeat(" ", max(0, widths[i]-displayWidth(cell)))
		right := t.columns[i].right && !t.isRemark(row, i)
		if right {
			b.WriteString(padding)
		}
		begins = append(begins, b.Len())
		b.WriteString(cell)
		if !right {
			b.WriteString(padding)
		}
	}
	return strings.TrimRight(b.String(), " "), begins
}

// displayWidth counts the terminal cells of s: two for East Asian wide characters,
// none for marks that join the character before them.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			n++
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
