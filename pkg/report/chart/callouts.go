package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// callout is a text beside a dot.
type callout struct {
	text string
	dot  vg.Point
}

// drawCallouts writes each text where it hides the fewest dots and no text
// that was written before it, if there is such a place. A line leads to a text
// that is not close to its dot.
func drawCallouts(c draw.Canvas, callouts []callout, dots []vg.Point, radius vg.Length) {
	const (
		widest = 140
		veil   = 0xA0 // opacity of the ground behind a text
	)
	style := Sans(SmallSize, Ink)
	var taken []vg.Rectangle
	for _, callout := range callouts {
		text := fit(style, callout.text, widest)
		box := bestPlace(c.Rectangle, callout.dot, vg.Point{X: style.Width(text) + 4, Y: SmallSize * 1.2}, radius, dots, taken)
		taken = append(taken, box)
		if near := nearest(box, callout.dot); near.Sub(callout.dot).Dot(near.Sub(callout.dot)) > 4*radius*radius {
			c.StrokeLines(draw.LineStyle{Color: SoftInk, Width: 0.5}, []vg.Point{callout.dot, near})
		}
		Fill(c, color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: veil}, box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
		Write(c, style, box.Min.X+2, center(box).Y, text)
	}
}

// bestPlace tries the sides and the corners of a dot, first close to it, then
// further away.
func bestPlace(within vg.Rectangle, dot, size vg.Point, radius vg.Length, dots []vg.Point, taken []vg.Rectangle) vg.Rectangle {
	const outside, overText = 1_000_000, 10_000 // dots that a place may hide rather than be such a one
	directions := []vg.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: -1}}
	reach := vg.Point{X: radius, Y: radius}
	var best vg.Rectangle
	least := -1
	for _, gap := range []vg.Length{radius + 1, radius + 9, radius + 22} {
		for _, d := range directions {
			middle := vg.Point{X: dot.X + d.X*(gap+size.X/2), Y: dot.Y + d.Y*(gap+size.Y/2)}
			box := vg.Rectangle{Min: middle.Sub(size.Scale(0.5)), Max: middle.Add(size.Scale(0.5))}
			hides := 0
			if box.Min.X < within.Min.X || box.Max.X > within.Max.X || box.Min.Y < within.Min.Y || box.Max.Y > within.Max.Y {
				hides += outside
			}
			for _, other := range taken {
				if overlap(box, other) {
					hides += overText
				}
			}
			for _, other := range dots {
				if overlap(box, vg.Rectangle{Min: other.Sub(reach), Max: other.Add(reach)}) {
					hides++
				}
			}
			if least < 0 || hides < least {
				best, least = box, hides
			}
		}
	}
	return best
}

// nearest is the point of a box that is nearest to another point.
func nearest(box vg.Rectangle, to vg.Point) vg.Point {
	return vg.Point{X: min(max(to.X, box.Min.X), box.Max.X), Y: min(max(to.Y, box.Min.Y), box.Max.Y)}
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X <= b.Max.X && b.Min.X <= a.Max.X && a.Min.Y <= b.Max.Y && b.Min.Y <= a.Max.Y
}
