package chart

import (
	"cmp"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

const (
	estimateRadius = 3.6
	whiskerGap     = 8 // between the plot and the figures beside it
)

// whiskers draws the inside of a chart of intervals.
type whiskers struct {
	chart   Intervals
	figures []string // beside the plot
}

// Plot draws the line at zero, and each estimate on a row of its own.
func (w whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	const end = 3.5 // half the height of a whisker's end
	toX, toY := p.Transforms(&c)
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(gridStyle, toX(tick.Value), c.Min.Y, toX(tick.Value), c.Max.Y)
	}
	c.StrokeLine2(draw.LineStyle{Color: Ink, Width: 1}, toX(0), c.Min.Y, toX(0), c.Max.Y+3)
	w.drawZero(c, toX(0))

	line, figure := draw.LineStyle{Color: palette[0], Width: 1.4}, Sans(SmallSize, Ink)
	for i, e := range w.chart.Estimates {
		x, y := toX(e.Value), toY(-float64(i)-0.5)
		if e.hasInterval() {
			low, high := toX(e.Low), toX(e.High)
			c.StrokeLine2(line, low, y, high, y)
			c.StrokeLine2(line, low, y-end, low, y+end)
			c.StrokeLine2(line, high, y-end, high, y+end)
		}
		drawEstimate(c, vg.Point{X: x, Y: y}, e.rulesOutZero())
		Write(c, figure, c.Max.X+whiskerGap, y, w.figures[i])
	}
}

// drawZero writes what zero means above its line, within the plot.
func (w whiskers) drawZero(c draw.Canvas, x vg.Length) {
	style := AlignCenter(Sans(SmallSize, Ink))
	text := fit(style, text.Printable(cmp.Or(w.chart.Zero, "0")), c.Max.X-c.Min.X)
	half := style.Width(text) / 2
	Write(c, style, min(max(x, c.Min.X+half), c.Max.X-half), c.Max.Y+legendRow/2+2, text)
}

func drawEstimate(c draw.Canvas, at vg.Point, filled bool) {
	c.DrawGlyphNoClip(disc(palette[0], estimateRadius), at)
	if !filled {
		c.DrawGlyphNoClip(disc(color.White, estimateRadius-1.3), at)
	}
}

// drawKey explains the dots at the top left and returns the canvas below.
func drawKey(c draw.Canvas) draw.Canvas {
	style := Sans(SmallSize, SoftInk)
	x, y := c.Min.X+estimateRadius, c.Max.Y-legendRow/2
	for _, key := range []struct {
		filled bool
		text   string
	}{{true, "the interval leaves out 0"}, {false, "0 is not ruled out"}} {
		drawEstimate(c, vg.Point{X: x, Y: y}, key.filled)
		Write(c, style, x+estimateRadius+5, y, key.text)
		x += 2*estimateRadius + style.Width(key.text) + 22
	}
	return draw.Crop(c, 0, 0, 0, -legendRow)
}
