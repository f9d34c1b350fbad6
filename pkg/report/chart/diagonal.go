package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// band shades where predictions are nearly exact. It lies below the dots.
type band struct{ low, high float64 }

// bandWidth is how far the band reaches to both sides of exact predictions, as
// a fraction of the measured value. [Scatter] and the names of the band say
// the same.
const bandWidth = 0.1

// Plot fills the band. Its edges are straight on a linear and on a logarithmic
// axis, and meet at 0.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	c.FillPolygon(bandColor, c.ClipPolygonXY([]vg.Point{
		{X: toX(b.low), Y: toY(b.low * (1 - bandWidth))},
		{X: toX(b.high), Y: toY(b.high * (1 - bandWidth))},
		{X: toX(b.high), Y: toY(b.high * (1 + bandWidth))},
		{X: toX(b.low), Y: toY(b.low * (1 + bandWidth))},
	}))
}

// diagonal is where predictions are exact. It lies on the dots, thin enough
// not to hide any.
type diagonal struct{ low, high float64 }

// Plot draws the diagonal, and names it and the edges of the band where they
// leave the plot, outside.
func (d diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	const nearest = 14 // that the name of an edge comes to that of the diagonal
	toX, toY := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: Ink, Width: 0.7}, toX(d.low), toY(d.low), toX(d.high), toY(d.high))

	name := Sans(SmallSize, SoftInk)
	beside, above := c.Max.X+4, c.Max.Y+6
	Write(c, name, beside, above, "exact")
	upper, lower := toX(d.high/(1+bandWidth)), toY(d.high*(1-bandWidth))
	if upper < c.Min.X || upper > c.Max.X-nearest || lower < c.Min.Y || lower > c.Max.Y-nearest {
		Write(c, name, beside, above-SmallSize*1.3, "±10%") // no room for the names of both edges
		return
	}
	Write(c, name, beside, lower, "−10%")
	Write(c, AlignCenter(name), upper, above, "+10%")
}
