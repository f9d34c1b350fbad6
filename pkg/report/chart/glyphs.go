package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// dotGlyph is the glyph of the dots of a chart's i-th series: with a colour and a shape of its own,
// so that a reader never depends on one alone to distinguish the series.
func dotGlyph(i int, radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: palette[i], Radius: radius, Shape: dotShapes[i]}
}

// disc is a filled circle.
func disc(c color.Color, radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: radius, Shape: draw.CircleGlyph{}}
}

// drawPin draws a glyph, with a thread from the axis at a height up to it.
func drawPin(c draw.Canvas, glyph draw.GlyphStyle, at vg.Point, axis vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: glyph.Color, Width: 0.6, Dashes: []vg.Length{1, 2}}, at.X, axis, at.X, at.Y)
	c.DrawGlyphNoClip(glyph, at)
}

// translucent is for dots that may lie on each other: where many do, it is
// darker.
func translucent(i int, radius vg.Length) draw.GlyphStyle {
	glyph, hue := dotGlyph(i, radius), palette[i]
	hue.A = 0xB8
	glyph.Color = hue
	return glyph
}

// dotShapes has one shape per colour of the palette, of about the same area.
var dotShapes = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	regular(3, math.Pi/2, 1.45),  // triangle
	regular(4, math.Pi/4, 1.25),  // square
	regular(4, 0, 1.35),          // diamond
	regular(3, -math.Pi/2, 1.45), // triangle on its tip
	cross(0, 1.3),                // plus
	cross(math.Pi/4, 1.3),        // times
	ring{},
	polygon{{X: -1.1, Y: 1.2}, {X: 1.1, Y: 1.2}, {X: -1.1, Y: -1.2}, {X: 1.1, Y: -1.2}}, // hourglass
	polygon{{X: -1.5, Y: 0.5}, {X: 1.5, Y: 0.5}, {X: 1.5, Y: -0.5}, {X: -1.5, Y: -0.5}}, // bar
}

// ring is a circle that is not filled.
type ring struct{}

// DrawGlyph implements [draw.GlyphDrawer].
func (ring) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: style.Radius * 0.55})
	var circle vg.Path
	circle.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
	circle.Arc(at, style.Radius, 0, 2*math.Pi)
	circle.Close()
	c.Stroke(circle)
}

// polygon is a filled glyph; its corners are in units of the glyph's radius.
type polygon []vg.Point

// DrawGlyph implements [draw.GlyphDrawer].
func (p polygon) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	corners := make([]vg.Point, len(p))
	for i, corner := range p {
		corners[i] = at.Add(corner.Scale(style.Radius))
	}
	c.FillPolygon(style.Color, corners)
}

// regular is a polygon of equal sides with a corner in the given direction.
func regular(sides int, direction float64, size vg.Length) polygon {
	p := make(polygon, sides)
	for i := range p {
		sin, cos := math.Sincos(direction + 2*math.Pi*float64(i)/float64(sides))
		p[i] = vg.Point{X: size * vg.Length(cos), Y: size * vg.Length(sin)}
	}
	return p
}

// cross has four arms, the first in the given direction.
func cross(direction float64, size vg.Length) polygon {
	const halfArm = 0.3
	var p polygon
	for arm := range 4 {
		sin, cos := math.Sincos(direction + math.Pi/2*float64(arm))
		along, across := vg.Point{X: vg.Length(cos), Y: vg.Length(sin)}, vg.Point{X: vg.Length(-sin), Y: vg.Length(cos)}
		p = append(p,
			along.Scale(size).Add(across.Scale(-halfArm)),
			along.Scale(size).Add(across.Scale(halfArm)),
			along.Scale(halfArm).Add(across.Scale(halfArm)), // in the corner between two arms
		)
	}
	return p
}
