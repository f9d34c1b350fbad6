package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// axisTitleHeight is the room that the title of an axis takes beside it.
const axisTitleHeight = TextSize * 1.8

// DrawTitled draws a plot, with the titles of its axes along the left and the
// lower edge of the canvas. gonum/plot could write them, but would leave a
// large gap beside a logarithmic axis.
func DrawTitled(c draw.Canvas, p *plot.Plot, xTitle, yTitle string) {
	style := AlignCenter(Sans(TextSize, Ink))
	inner := draw.Crop(c, axisTitleHeight, 0, axisTitleHeight, 0)
	p.Draw(inner)
	data := p.DataCanvas(inner)
	middle, size := data.Center(), data.Size()
	Write(c, style, middle.X, c.Min.Y+TextSize/2, fit(style, xTitle, size.X))
	writeTurned(c, style, c.Min.X+TextSize/2, middle.Y, math.Pi/2, fit(style, yTitle, size.Y))
}

// setAxis spans an axis from low to high, with ticks.
func setAxis(axis *plot.Axis, low, high float64, logarithmic bool) {
	ticks := linearTicks
	if logarithmic {
		axis.Scale = plot.LogScale{}
		ticks = logTicks
	}
	axis.Min, axis.Max = low, high
	axis.Tick.Marker = plot.ConstantTicks(ticks(low, high))
}

// setRows turns the vertical axis into one of rows, counted from the top, and of their
// names: the axis points up, so the first row lies from -1 to 0.
func setRows(p *plot.Plot, rows float64, names plot.Ticker) {
	p.Y.Min, p.Y.Max = -rows, 0
	p.Y.Width = 0
	p.Y.Tick.Length, p.Y.Tick.Width = 0, 0
	p.Y.Tick.Marker = names
}

// gridStyle is how a chart draws lines at its ticks itself.
var gridStyle = draw.LineStyle{Color: GridLine, Width: 0.5}

// newGrid returns lines at the ticks of both axes.
func newGrid() *plotter.Grid {
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = GridLine, GridLine
	return grid
}

// axisTitle names a quantity and its unit, if it has one.
func axisTitle(quantity, unit string) string {
	if unit == "" {
		return text.Printable(quantity)
	}
	return text.Printable(quantity) + " (" + text.Printable(unit) + ")"
}

// padded leaves a little room beside the outermost values. A logarithmic axis
// needs values above 0.
func padded(low, high float64, logarithmic bool) (float64, float64) {
	const fraction = 0.03
	if logarithmic {
		room := math.Max(math.Exp((math.Log(high)-math.Log(low))*fraction), 1.01)
		return low / room, high * room
	}
	size := math.Max(math.Abs(low), math.Abs(high))
	if size == 0 {
		size = 1
	}
	room := math.Max((high-low)*fraction, size*0.005)
	return low - room, high + room
}

// isSpan reports whether an axis can lead from low to high: between numbers that
// differ in their last digits only there is no room for ticks.
func isSpan(low, high float64) bool {
	const least = 1e-6
	return low >= -maxMagnitude && high <= maxMagnitude && high-low >= least*max(math.Abs(low), math.Abs(high)) && high > low
}
