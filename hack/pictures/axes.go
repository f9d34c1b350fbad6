package main

import "math"

// axes are a part of a drawing in which positions have a meaning.
type axes struct {
	*drawing
	left, top, width, height float64 // in the drawing
	x, y                     span
}

// span is what an axis reaches from and to.
type span struct {
	from, to    float64
	logarithmic bool
}

// position is where a value lies, from 0 to 1 within the span.
func (s span) position(v float64) float64 {
	if s.logarithmic {
		return (math.Log(v) - math.Log(s.from)) / (math.Log(s.to) - math.Log(s.from))
	}
	return (v - s.from) / (s.to - s.from)
}

// mark is a value that is written at an axis.
type mark struct {
	at   float64
	text string
}

// at is where a point lies in the drawing.
func (a *axes) at(x, y float64) (float64, float64) {
	return a.left + a.width*a.x.position(x), a.top + a.height*(1-a.y.position(y))
}

// frame draws the grid, the marks and what the axes mean.
func (a *axes) frame(xs, ys []mark, xMeans, yMeans string) {
	for _, m := range ys {
		_, y := a.at(a.x.from, m.at)
		a.line(a.left, y, a.left+a.width, y, grid, "")
		a.text(a.left-8, y+4.5, until, m.text, style{size: 12})
	}
	for _, m := range xs {
		x, y := a.at(m.at, a.y.from)
		a.line(x, y, x, y+4, faint, "")
		a.text(x, y+18, around, m.text, style{size: 12})
	}
	a.line(a.left, a.top+a.height, a.left+a.width, a.top+a.height, faint, "")
	a.text(a.left+a.width/2, a.top+a.height+38, around, xMeans, style{size: 12, color: faint})
	a.text(a.left-40, a.top-14, from, yMeans, style{size: 12, color: faint})
}

// curve draws a line through points, with a dot at each if they are few.
func (a *axes) curve(points [][2]float64, color string) {
	const few = 24
	placed := make([][2]float64, len(points))
	for i, p := range points {
		placed[i][0], placed[i][1] = a.at(p[0], p[1])
	}
	a.path(placed, color)
	if len(points) > few {
		return
	}
	for _, p := range placed {
		a.dot(p[0], p[1], color)
	}
}

// label writes behind a point.
func (a *axes) label(p [2]float64, text, color string) {
	x, y := a.at(p[0], p[1])
	a.text(x+9, y+4.5, from, text, style{size: 12, color: color, bold: true})
}
