package report

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// dotGlyph is how the i-th series of a scatter draws a dot: in a colour and in
// a shape of its own, so that neither alone must tell the series apart. Dots
// are translucent: where many lie on each other it is darker.
func dotGlyph(i int, radius vg.Length) draw.GlyphStyle {
	hue := palette[i]
	hue.A = 0xB8
	return draw.GlyphStyle{Color: hue, Radius: radius, Shape: dotShapes[i]}
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
