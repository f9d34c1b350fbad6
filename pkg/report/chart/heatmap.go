package chart

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// HeatMap is a chart of a matrix: a coloured cell per value, darker for larger
// values, with a colour bar beside it. It shows who slows whom, say: a row per
// slowed job, a column per job that it is slowed by. Values are written into
// the cells where there is room. The chart grows with the matrix, from about
// 3 to 18 inches.
type HeatMap struct {
	// Title stands above the chart; may be empty.
	Title string
	// Quantity names the quantity of the values, "dilation" say; it labels the colour bar. Not
	// empty.
	Quantity string
	// Unit of the values, such as "s" or "×"; empty if they have none.
	Unit string
	// RowsAre and ColumnsAre name the kinds of the rows and columns, such as "slowed job" and
	// "because of job"; may be empty.
	RowsAre, ColumnsAre string
	// Rows from top to bottom and Columns from left to right are named, 1 to
	// 60 of each; the names are not empty, and unique among the rows and
	// among the columns.
	Rows, Columns []string
	// Values[r][c] is the value in row r and column c; NaN if it is not known.
	// At least one value is known.
	Values [][]float64
	// Full is a value that colours reach from 0 at least, so that several maps can be compared by them; 0 for the colours of the
	// values alone.
	Full float64
}

const maxHeatMapNames = 60

func (h HeatMap) check() error {
	if h.Quantity == "" {
		return errors.New("quantity: is empty; name what the values measure")
	}
	if err := checkLines("rows", h.Rows); err != nil {
		return err
	}
	if err := checkLines("columns", h.Columns); err != nil {
		return err
	}
	if len(h.Values) != len(h.Rows) {
		return fmt.Errorf("values: there are %d rows of values for %d names in rows", len(h.Values), len(h.Rows))
	}
	if h.Full < 0 || checkNumber(h.Full) != nil {
		return fmt.Errorf("full: %v is not a number from 0 on", h.Full)
	}
	known := 0
	for r, row := range h.Values {
		if len(row) != len(h.Columns) {
			return fmt.Errorf("values[%d] (%q): there are %d values for %d names in columns", r, h.Rows[r], len(row), len(h.Columns))
		}
		for c, value := range row {
			if math.IsNaN(value) {
				continue
			}
			if err := checkNumber(value); err != nil {
				return fmt.Errorf("values[%d][%d] (%q, %q): %w", r, c, h.Rows[r], h.Columns[c], err)
			}
			known++
		}
	}
	if known == 0 {
		return errors.New("values: none is known; there is nothing to show")
	}
	return nil
}

// checkLines checks the names of the rows or of the columns.
func checkLines(list string, names []string) error {
	if n := len(names); n < 1 || n > maxHeatMapNames {
		return fmt.Errorf("%s: there are %d; a heat map shows 1 to %d", list, n, maxHeatMapNames)
	}
	return checkNames(list, "", names)
}

// size makes room for the title, to the width of other charts.
func (h HeatMap) size() (width, height vg.Length) {
	l := newHeatLayout(h)
	width, height = l.width+2*margin, l.height+2*margin
	if h.Title != "" {
		title := Bold(titleSize, Ink).Width(text.Printable(h.Title)) + 2*margin
		return max(width, min(title, chartWidth)), height + titleHeight
	}
	return width, height
}

func (h HeatMap) drawInside(c draw.Canvas) {
	c = drawTitle(c, h.Title)
	l := newHeatLayout(h)
	grid := vg.Rectangle{
		Min: vg.Point{X: c.Min.X + l.left, Y: c.Max.Y - l.cell*vg.Length(len(h.Rows))},
		Max: vg.Point{X: c.Min.X + l.left + l.cell*vg.Length(len(h.Columns)), Y: c.Max.Y},
	}
	h.drawCells(c, l, grid)
	h.drawNames(c, l, grid)
	l.bar.draw(draw.Crop(c, grid.Max.X+barGap-c.Min.X, 0, 0, 0))
}

// drawCells paints the cells and writes their values. A thin white line stays
// between cells, so that two of a colour can be distinguished.
func (h HeatMap) drawCells(c draw.Canvas, l heatLayout, grid vg.Rectangle) {
	const line = 0.4
	for r, row := range h.Values {
		for k, value := range row {
			cell := vg.Rectangle{
				Min: vg.Point{X: grid.Min.X + l.cell*vg.Length(k) + line, Y: grid.Max.Y - l.cell*vg.Length(r+1) + line},
				Max: vg.Point{X: grid.Min.X + l.cell*vg.Length(k+1) - line, Y: grid.Max.Y - l.cell*vg.Length(r) - line},
			}
			if math.IsNaN(value) {
				hatch(c, cell)
				continue
			}
			paint := l.bar.colors.colorAt(value)
			Fill(c, paint, cell.Min.X, cell.Min.Y, cell.Max.X, cell.Max.Y)
			if l.valueSize > 0 {
				middle := center(cell)
				Write(c, AlignCenter(Sans(l.valueSize, ReadableOn(paint))), middle.X, middle.Y, text.Value(value))
			}
		}
	}
}

// drawNames writes the names of the rows to the left and those of the columns below, and beyond
// them the titles of rows and columns.
func (h HeatMap) drawNames(c draw.Canvas, l heatLayout, grid vg.Rectangle) {
	name, title := AlignRight(Sans(l.nameSize, Ink)), AlignCenter(Sans(TextSize, SoftInk))
	for r, text := range l.rows {
		Write(c, name, grid.Min.X-nameGap, grid.Max.Y-l.cell*(vg.Length(r)+0.5), text)
	}
	l.columns.draw(c, grid.Min)
	middle, size := center(grid), grid.Size()
	if h.RowsAre != "" {
		text := fit(title, text.Printable(h.RowsAre), max(size.Y, leastTitle))
		writeTurned(c, title, c.Min.X+TextSize/2, min(middle.Y, grid.Max.Y-title.Width(text)/2), math.Pi/2, text)
	}
	if h.ColumnsAre != "" {
		text := fit(title, text.Printable(h.ColumnsAre), max(size.X, leastTitle))
		Write(c, title, middle.X, grid.Min.Y-l.below+TextSize/2, text)
	}
}

// scale returns the colours of the values.
func (h HeatMap) scale() colorScale {
	values := h.known()
	if h.Full > 0 {
		values = append(values, 0, h.Full)
	}
	return newColorScale(values)
}

// known returns the values that are known.
func (h HeatMap) known() []float64 {
	return knownOf(slices.Concat(h.Values...))
}
