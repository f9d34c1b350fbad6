package report

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// Lengths that the parts of a heat map share.
const (
	nameGap    = 5   // between the cells and the names
	widestName = 180 // of longer names, the middle is left out
	leastTitle = 100 // room for what the rows or the columns are, however few
	barGap     = 26  // between the cells and the colour bar
)

// heatLayout says how large the parts of a heat map are.
type heatLayout struct {
	cell          vg.Length
	rows, columns []string // names as they are written
	nameSize      vg.Length
	valueSize     vg.Length // of the values in the cells; 0 if there is no room for them
	turned        bool      // names of columns rise to the right, by 45 degrees
	left, below   vg.Length // room for names and titles beside the cells
	bar           colorBar
	width, height vg.Length // of all, without title and margins
}

func newHeatLayout(h HeatMap) heatLayout {
	const least, most = 15, 64
	var l heatLayout
	// Larger matrices get smaller cells, but not as small as a page asks for.
	l.cell = vg.Length(min(max(120/math.Sqrt(float64(max(len(h.Rows), len(h.Columns)))), least), most))
	l.nameSize = min(l.cell*0.55, textSize)
	l.rows, l.columns = l.fitted(h.Rows), l.fitted(h.Columns)
	l.valueSize = l.sizeOfValues(h.known())

	style := sans(l.nameSize, ink)
	for _, name := range l.rows {
		l.left = max(l.left, style.Width(name))
	}
	for _, name := range l.columns {
		l.turned = l.turned || style.Width(name) > l.cell-4
	}
	l.below = l.nameSize
	if l.turned {
		for k, name := range l.columns {
			along := style.Width(name) * math.Sqrt2 / 2
			l.left = max(l.left, along-l.cell*(vg.Length(k)+0.5))
			l.below = max(l.below, along+l.nameSize)
		}
	}
	l.left += nameGap
	l.below += nameGap
	if h.RowsAre != "" {
		l.left += axisTitleHeight
	}
	if h.ColumnsAre != "" {
		l.below += axisTitleHeight
	}

	gridHeight := l.cell * vg.Length(len(h.Rows))
	l.bar = newColorBar(h, gridHeight)
	l.width = l.left + l.cell*vg.Length(len(h.Columns)) + barGap + l.bar.width()
	l.height = max(gridHeight+l.below, l.bar.height())
	return l
}

func (l heatLayout) fitted(names []string) []string {
	style := sans(l.nameSize, ink)
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = fitMiddle(style, printable(name), widestName)
	}
	return texts
}

// sizeOfValues is the largest size, within reason, at which every value fits
// into its cell.
func (l heatLayout) sizeOfValues(values []float64) vg.Length {
	const least, part = 5.5, 0.75 // of the width of a cell that a value may take
	widest := vg.Length(0)        // of a value, in units of the size
	style := sans(textSize, ink)
	for _, value := range values {
		widest = max(widest, style.Width(Value(value))/textSize)
	}
	size := min(l.cell*part/widest, l.cell*0.5, textSize)
	if size < least {
		return 0
	}
	return size
}
