package chart

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// Regions is a map of the best alternative at each point: two quantities span a plane, such as the
// arrival rates of two classes, and the finding at each of its points has a colour, such as
// dedicated pools needing one server fewer than a shared one. The legend gives the part of the map
// of each finding.
type Regions struct {
	// Title stands above the chart; may be empty.
	Title string
	// X and Y are the axes; the cells cut them into equal parts.
	X, Y Axis
	// Findings are the possible findings, in the order of the legend; 1 to 12, at least one of them
	// on the map.
	Findings []Finding
	// Cells[r][c] is the index of the finding in row r, counted from below, and column c. There are
	// 1 to 400 rows, all with the same number of columns, 1 to 400.
	Cells [][]int
	// NowX and NowY are where things are now: marked if it is on the map. NaN if
	// that is not known.
	NowX, NowY float64
}

// Axis is one quantity of a chart.
type Axis struct {
	// Quantity names it, "arrival rate of checkout" say; not empty.
	Quantity string
	// Unit such as "/s"; empty if it has none.
	Unit string
	// From and To are where the axis begins and ends; From is below To, by a
	// millionth of either at least.
	From, To float64
}

// Finding is what may be found at a point of [Regions].
type Finding struct {
	// Name identifies it in the legend, "dedicated: 1 server fewer" say; not empty and
	// unique in its chart.
	Name string
	// Lean is the side that it favours, and how strongly: from −1, dark blue, over 0, pale grey, to
	// 1, dark orange. No two findings should lean alike.
	Lean float64
}

const (
	maxFindings    = 12
	maxRegionCells = 400 // in a row or a column
)

func (g Regions) check() error {
	if err := g.X.check(); err != nil {
		return fmt.Errorf("x.%w", err)
	}
	if err := g.Y.check(); err != nil {
		return fmt.Errorf("y.%w", err)
	}
	if n := len(g.Findings); n < 1 || n > maxFindings {
		return fmt.Errorf("findings: there are %d; a chart shows 1 to %d", n, maxFindings)
	}
	for i, finding := range g.Findings {
		if !(finding.Lean >= -1 && finding.Lean <= 1) {
			return fmt.Errorf("findings[%d] (%q).lean: %v is not between −1 and 1", i, finding.Name, finding.Lean)
		}
	}
	if err := checkNames("findings", ".name", g.names()); err != nil {
		return err
	}
	if n := len(g.Cells); n < 1 || n > maxRegionCells {
		return fmt.Errorf("cells: there are %d rows; a chart shows 1 to %d", n, maxRegionCells)
	}
	columns := len(g.Cells[0])
	if columns < 1 || columns > maxRegionCells {
		return fmt.Errorf("cells[0]: there are %d columns; a chart shows 1 to %d", columns, maxRegionCells)
	}
	for r, row := range g.Cells {
		if len(row) != columns {
			return fmt.Errorf("cells[%d]: there are %d, but %d in the first row", r, len(row), columns)
		}
		for k, i := range row {
			if i < 0 || i >= len(g.Findings) {
				return fmt.Errorf("cells[%d][%d]: %d is not the index of a finding, 0 to %d", r, k, i, len(g.Findings)-1)
			}
		}
	}
	return nil
}

func (a Axis) check() error {
	if a.Quantity == "" {
		return errors.New("quantity: is empty; name what the axis shows")
	}
	if !isSpan(a.From, a.To) {
		return fmt.Errorf("from, to: %v and %v are no ends of an axis; give finite numbers, the first clearly below the second", a.From, a.To)
	}
	return nil
}

// parts returns which fraction of the map each finding takes.
func (g Regions) parts() []float64 {
	parts := make([]float64, len(g.Findings))
	cell := 1 / float64(len(g.Cells)*len(g.Cells[0]))
	for _, row := range g.Cells {
		for _, i := range row {
			parts[i] += cell
		}
	}
	for i, part := range parts {
		parts[i] = min(part, 1) // but for rounding
	}
	return parts
}

// size leaves room for a square between the axes.
func (g Regions) size() (width, height vg.Length) {
	const mapWidth = 6.5 * vg.Inch
	width = mapWidth
	height = width + legendHeight(len(g.legend().entries)) + titleRoom(g.Title)
	return width, height
}

func (g Regions) drawInside(c draw.Canvas) {
	const half = SmallSize // of a tick's label at the end of an axis
	c = drawTitle(c, g.Title)
	c = g.legend().draw(c)
	p := g.plot()
	c = squared(p, draw.Crop(c, 0, -half*2, 0, -half))
	DrawTitled(c, p, axisTitle(g.X.Quantity, g.X.Unit), axisTitle(g.Y.Quantity, g.Y.Unit))
}

// legend lists the findings on the map.
func (g Regions) legend() legend {
	const width = 16
	l := legend{swatchWidth: width, headers: []legendHeader{{text: "of the map"}}}
	for i, part := range g.parts() {
		if part == 0 {
			continue
		}
		finding := g.Findings[i]
		l.entries = append(l.entries, legendEntry{
			name:    text.Printable(finding.Name),
			figures: []string{text.Percent(part)},
			swatch: func(c draw.Canvas, x, y vg.Length) {
				box := vg.Rectangle{Min: vg.Point{X: x, Y: y - TextSize/2}, Max: vg.Point{X: x + width, Y: y + TextSize/2}}
				Fill(c, leanColor(finding.Lean), box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
				outline(c, box, draw.LineStyle{Color: SoftInk, Width: 0.4})
			},
		})
	}
	return l
}

// plot sets up the axes and adds the map.
func (g Regions) plot() *plot.Plot {
	p := NewPlot()
	setAxis(&p.X, g.X.From, g.X.To, false)
	setAxis(&p.Y, g.Y.From, g.Y.To, false)
	p.Add(terrain{g})
	if onAxis(g.NowX, g.X) && onAxis(g.NowY, g.Y) {
		p.Add(here{g.NowX, g.NowY})
	}
	return p
}

func onAxis(x float64, a Axis) bool { return !math.IsNaN(x) && x >= a.From && x <= a.To }
