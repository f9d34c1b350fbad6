package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

const (
	barWidth      = 13
	barLabelGap   = 6
	unknownHeight = 26 // room below a colour bar for the key to unknown values
)

// colorBar is the key to the colours of values.
type colorBar struct {
	colors  colorScale
	length  vg.Length
	ticks   []plot.Tick // with their labels as drawn
	title   string
	unknown string // the name of values that are not known; empty if all are
}

// newColorBar is as long as the height of the figure beside it, within limits. It explains unknown
// values unless all are known.
func newColorBar(colors colorScale, quantity, unit string, allKnown bool, beside vg.Length) colorBar {
	const (
		shortest, longest = 130, 320
		widestTick        = 70
	)
	label := Sans(SmallSize, Ink)
	b := colorBar{colors: colors}
	if !allKnown {
		b.unknown = "not known"
		beside -= unknownHeight
	}
	b.length = min(max(beside, shortest), longest)
	b.title = fit(Sans(TextSize, Ink), axisTitle(quantity, unit), b.length)
	b.ticks = linearTicks(colors.low, colors.high)
	for i := range b.ticks {
		b.ticks[i].Label = fit(label, b.ticks[i].Label+text.Printable(unit), widestTick)
	}
	return b
}

// titleAt is where the title of the bar is centred, from the left.
func (b colorBar) titleAt() vg.Length {
	widest := vg.Length(0)
	for _, tick := range b.ticks {
		widest = max(widest, Sans(SmallSize, Ink).Width(tick.Label))
	}
	return barWidth + barLabelGap + widest + axisTitleHeight - TextSize/2
}

func (b colorBar) width() vg.Length {
	return max(b.titleAt()+TextSize/2, barWidth+barLabelGap+Sans(SmallSize, Ink).Width(b.unknown))
}

func (b colorBar) height() vg.Length {
	if b.unknown != "" {
		return b.length + unknownHeight
	}
	return b.length
}

// draw puts the bar at the top left of a canvas.
func (b colorBar) draw(c draw.Canvas) {
	const steps = 120
	bottom, right := c.Max.Y-b.length, c.Min.X+barWidth
	toY := func(fraction float64) vg.Length { return bottom + vg.Length(fraction)*b.length }
	for i := range steps {
		// Each step reaches to the top: no seam shows between two of them.
		Fill(c, Heat((float64(i)+0.5)/steps), c.Min.X, toY(float64(i)/steps), right, c.Max.Y)
	}

	label, line := Sans(SmallSize, Ink), draw.LineStyle{Color: SoftInk, Width: 0.5}
	for _, tick := range b.ticks {
		y := toY(b.colors.position(tick.Value))
		c.StrokeLine2(line, right, y, right+3, y)
		Write(c, label, right+barLabelGap, y, tick.Label)
	}
	writeTurned(c, AlignCenter(Sans(TextSize, Ink)), c.Min.X+b.titleAt(), toY(0.5), math.Pi/2, b.title)

	if b.unknown != "" {
		key := vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: bottom - unknownHeight}}
		key.Max = key.Min.Add(vg.Point{X: barWidth, Y: barWidth})
		hatch(c, key)
		Write(c, label, right+barLabelGap, center(key).Y, b.unknown)
	}
}

// hatch fills a rectangle as no value does: grey, with stripes.
func hatch(c draw.Canvas, r vg.Rectangle) {
	Hatch(c, r, Backdrop, draw.LineStyle{Color: hatchLine, Width: 0.6}, 4)
}

// Hatch fills a rectangle with a colour, and with stripes that rise to the left, a
// distance apart along an edge.
func Hatch(c draw.Canvas, r vg.Rectangle, ground color.Color, stripe draw.LineStyle, distance vg.Length) {
	Fill(c, ground, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
	size := r.Size()
	var stripes vg.Path
	for d := distance / 2; d < size.X+size.Y; d += distance {
		// From the left or the upper edge, d away from the lower left corner
		// along the edges, to the lower or the right edge, as far away.
		stripes.Move(vg.Point{X: r.Min.X + max(0, d-size.Y), Y: r.Min.Y + min(d, size.Y)})
		stripes.Line(vg.Point{X: r.Min.X + min(d, size.X), Y: r.Min.Y + max(0, d-size.X)})
	}
	c.SetLineStyle(stripe)
	c.Stroke(stripes)
}
