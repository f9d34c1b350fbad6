package report

// tableView is a table as the template of a page wants it.
type tableView struct {
	Header []cellView // empty if there is none
	Rows   [][]cellView
}

type cellView struct {
	Text  string
	Right bool
	Span  int  // columns that the cell takes
	Names bool // the cell says what its row is about
}

func (t *Table) view() *tableView {
	var view tableView
	if !t.NoHeader {
		for i, text := range t.header() {
			view.Header = append(view.Header, cellView{Text: text, Right: t.columns[i].right})
		}
	}
	for _, row := range t.rows {
		cells := make([]cellView, len(row))
		for i, text := range row {
			cells[i] = cellView{Text: text, Right: t.columns[i].right, Span: 1, Names: i == 0 && !t.columns[i].right}
			if t.isRemark(row, i) {
				cells[i].Right = false
				cells[i].Span = len(t.columns) - i
			}
		}
		view.Rows = append(view.Rows, cells)
	}
	return &view
}
