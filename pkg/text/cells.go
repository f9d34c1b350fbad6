package text

import "slices"

// Cell is a cell of a [Table], for what shows tables otherwise than [Table.Write] does.
type Cell struct {
	Text  string
	Right bool // keeps to the right
	Span  int  // columns that the cell takes
	Names bool // says what its row is about: the first of words
}

// Header returns the cells of the header; none if the table has no header.
func (t *Table) Header() []Cell {
	if t.NoHeader {
		return nil
	}
	var header []Cell
	for i, text := range t.header() {
		header = append(header, Cell{Text: text, Right: t.columns[i].right, Span: 1})
	}
	return header
}

// Rows returns the cells of each row.
func (t *Table) Rows() [][]Cell {
	rows := make([][]Cell, len(t.rows))
	names := slices.IndexFunc(t.columns, func(c Column) bool { return !c.right })
	for r, row := range t.rows {
		for i, text := range row {
			cell := Cell{Text: text, Right: t.columns[i].right, Span: 1, Names: i == names}
			if t.isRemark(row, i) {
				cell.Right = false
				cell.Span = len(t.columns) - i
			}
			rows[r] = append(rows[r], cell)
		}
	}
	return rows
}
