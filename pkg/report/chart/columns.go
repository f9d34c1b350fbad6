package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// columns draws the inside of a comparison.
type columns struct {
	contenders []Contender
	cases      int
}

// Plot shades every other case, and puts the contenders' dots side by side, so
// that none hides another.
func (d columns) Plot(c draw.Canvas, p *plot.Plot) {
	const (
		part     = 0.84 // of the width of a case that its dots take
		farthest = 26   // that two dots stand from each other
		perDot   = 0.33 // of the distance of two dots that is the radius of one
		largest  = 3.6
		axisLine = 0.5 // that is not to be hidden
	)
	toX, toY := p.Transforms(&c)
	slot := toX(1) - toX(0)
	step := min(slot*part/vg.Length(len(d.contenders)), farthest)

	for k := 1; k < d.cases; k += 2 {
		Fill(c, Backdrop, toX(float64(k)), c.Min.Y+axisLine, toX(float64(k+1)), c.Max.Y)
	}
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(gridStyle, c.Min.X, toY(tick.Value), c.Max.X, toY(tick.Value))
	}
	for i, contender := range d.contenders {
		glyph := dotGlyph(i, min(step*perDot, largest))
		beside := (vg.Length(i) - vg.Length(len(d.contenders)-1)/2) * step
		for k, value := range contender.Values {
			if !math.IsNaN(value) {
				c.DrawGlyphNoClip(glyph, vg.Point{X: toX(float64(k)+0.5) + beside, Y: toY(value)})
			}
		}
	}
}
