package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loadline.dev/loadline/pkg/text"
)

// tableView is a table as its template wants it.
type tableView struct {
	// Label names the table for screen readers.
	Label string
	// Caption heads it where no title does, and LeftOut says which of its rows and columns are not there.
	Caption, LeftOut string

	Header []text.Cell
	Rows   []rowView
}

type rowView struct {
	Class string // by which the filter finds it
	Cells []cellView
}

type cellView struct {
	text.Cell

	Link string
}

// newTable returns a table of which the cells that say what rows are about lead where link says; it may be nil.
func newTable(label string, t *text.Table, link func(about string) string) *tableView {
	view := &tableView{Label: label, Header: t.Header()}
	for _, cells := range t.Rows() {
		row := rowView{}
		for _, cell := range cells {
			shown := cellView{Cell: cell}
			if cell.Names && link != nil {
				shown.Link = link(cell.Text)
			}
			row.Cells = append(row.Cells, shown)
		}
		view.Rows = append(view.Rows, row)
	}
	return view
}

// What a table behind a drawing has of rows and columns at most, with the column that says what rows are about: it stays small beside its page.
const (
	maxRows    = 100
	maxColumns = 61
)

// choice chooses some of many rows or columns: it returns the numbers of as many as there may be. Words say which these are.
type choice struct {
	of    func(all, most int) []int
	words string
}

// Of a series some rows stand for all; of a list in an order that matters, the first matter most.
var (
	evenlySpaced = choice{evenly, "evenly spaced"}
	firstOnes    = choice{first, "from the first on"}
)

// behind returns the table behind a drawing, without what is too much of it.
func behind(caption string, t *text.Table, chosen choice) *tableView {
	caption = text.Printable(text.Capitalized(caption))
	view := newTable(caption, t, nil)
	view.Caption = caption
	var few []string
	take := func(all, most int, what string) []int {
		if all > most {
			few = append(few, fmt.Sprintf("%d of %s %s", most, text.Count(int64(all)), what))
		}
		return chosen.of(all, most)
	}
	view.Rows = picked(view.Rows, take(len(view.Rows), maxRows, "rows"))
	columns := []int{0} // of words
	for _, k := range take(len(view.Header)-1, maxColumns-1, "columns") {
		columns = append(columns, k+1)
	}
	view.Header = picked(view.Header, columns)
	for i := range view.Rows {
		view.Rows[i].Cells = picked(view.Rows[i].Cells, columns)
	}
	if len(few) > 0 {
		view.LeftOut = "Shown: " + strings.Join(few, " and ") + ", " + chosen.words + "."
	}
	return view
}

// evenly returns the numbers of some of all, evenly spaced from the first to the last one.
func evenly(all, most int) []int {
	numbers := first(all, most)
	for i := range numbers {
		if all > most {
			numbers[i] = i * (all - 1) / (most - 1)
		}
	}
	return numbers
}

// first returns the numbers of the first of all.
func first(all, most int) []int {
	var numbers []int
	for i := range min(all, most) {
		numbers = append(numbers, i)
	}
	return numbers
}

func picked[T any](all []T, numbers []int) []T {
	var some []T
	for _, i := range numbers {
		some = append(some, all[i])
	}
	return some
}

// all yields the bars, each with those that it sums up after it.
func (b *Bars) all(yield func(*BarRow) bool) {
	for i := range b.Rows {
		if !yield(&b.Rows[i]) {
			return
		}
		for k := range b.Rows[i].Of {
			if !yield(&b.Rows[i].Of[k]) {
				return
			}
		}
	}
}

// behind returns the tables of the parts of the bars, and of the past of those that have one.
func (b *Bars) behind() []*tableView {
	kinds := map[Kind]string{}
	for _, entry := range b.Key {
		kinds[entry.Kind] = entry.Text
	}
	parts := text.NewTable(text.Left(b.Heads.Name), text.Right(b.Heads.Figure), text.Left(b.Heads.Part), text.Left("kind"), text.Right(b.Heads.Value))
	longest := 0
	for row := range b.all {
		for _, p := range row.Parts {
			parts.Add(row.Name, row.Figure, p.Name, kinds[p.Kind], p.Figure)
		}
		longest = max(longest, len(row.Spark))
	}
	tables := []*tableView{behind(b.Of, parts, firstOnes)}
	if longest > 0 {
		tables = append(tables, behind(b.SparksAre, b.past(longest), firstOnes))
	}
	return tables
}

// past returns the values of the lines of the past, some from the first to the last, which is now.
func (b *Bars) past(longest int) *text.Table {
	const moments = 7
	ago := evenly(longest, moments)
	slices.Reverse(ago)
	columns := []text.Column{text.Left(b.Heads.Name)}
	for _, k := range ago {
		columns = append(columns, text.Right(text.Ago(b.SparkEvery*time.Duration(k))))
	}
	t := text.NewTable(columns...)
	for row := range b.all {
		if len(row.Spark) == 0 {
			continue
		}
		cells := []string{row.Name}
		for _, k := range ago {
			value := math.NaN()
			if k < len(row.Spark) {
				value = row.Spark[len(row.Spark)-1-k]
			}
			cells = append(cells, text.Times(value))
		}
		t.Add(cells...)
	}
	return t
}

// behind returns the table of tiles that are too many to show their figures.
func (t *Tiles) behind() *tableView {
	table := text.NewTable(text.Left(t.Heads.Name), text.Left(t.Heads.Figure), text.Left(t.Heads.Detail))
	for _, tile := range t.Tiles {
		table.Add(tile.Name, tile.Figure, tile.Detail)
	}
	return behind(t.Of, table, firstOnes)
}
