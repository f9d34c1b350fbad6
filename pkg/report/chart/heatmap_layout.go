package chart

import (
	"math"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/text"
)

// Lengths that the parts of a heat map share.
const (
	leastTitle = 100 // room for the title of the rows or the columns, however few
	barGap     = 26  // between the cells and the colour bar
)

// heatLayout says how large the parts of a heat map are.
type heatLayout struct {
	cell          vg.Length
	rows          []string // names as drawn
	columns       nameRow
	nameSize      vg.Length
	valueSize     vg.Length // of the values in the cells; 0 if there is no room for them
	left, below   vg.Length // room for names and titles beside the cells
	bar           colorBar
	width, height vg.Length // of all, without title and margins
}

func newHeatLayout(h HeatMap) heatLayout {
	const least, most = 15, 64
	var l heatLayout
	// Larger matrices get smaller cells, but not as small as a page asks for.
	l.cell = vg.Length(min(max(120/math.Sqrt(float64(max(len(h.Rows), len(h.Columns)))), least), most))
	l.nameSize = min(l.cell*0.55, TextSize)
	for _, name := range h.Rows {
		l.rows = append(l.rows, fitMiddle(Sans(l.nameSize, Ink), text.Printable(name), widestName))
	}
	l.columns = newNameRow(h.Columns, l.nameSize, l.cell)
	l.valueSize = l.sizeOfValues(h.known())

	l.left = l.columns.overhang()
	for _, name := range l.rows {
		l.left = max(l.left, Sans(l.nameSize, Ink).Width(name))
	}
	l.below = l.columns.height()
	l.left += nameGap
	if h.RowsAre != "" {
		l.left += axisTitleHeight
	}
	if h.ColumnsAre != "" {
		l.below += axisTitleHeight
	}

	gridHeight, known := l.cell*vg.Length(len(h.Rows)), h.known()
	l.bar = newColorBar(h.scale(), h.Quantity, h.Unit, len(known) == len(h.Rows)*len(h.Columns), gridHeight)
	l.width = l.left + l.cell*vg.Length(len(h.Columns)) + barGap + l.bar.width()
	l.height = max(gridHeight+l.below, l.bar.height())
	return l
}

// sizeOfValues is the largest size, within reason, at which every value fits
// into its cell.
func (l heatLayout) sizeOfValues(values []float64) vg.Length {
	const least, part = 5.5, 0.75 // of the width of a cell that a value may take
	widest := vg.Length(0)        // of a value, in units of the size
	style := Sans(TextSize, Ink)
	for _, value := range values {
		widest = max(widest, style.Width(text.Value(value))/TextSize)
	}
	size := min(l.cell*part/widest, l.cell*0.5, TextSize)
	if size < least {
		return 0
	}
	return size
}
