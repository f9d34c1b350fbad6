package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/report/chart"
)

// The colours of resources, as in all charts of Loadline.
var blue, red, green, purple = chart.Hue(0), chart.Hue(1), chart.Hue(2), chart.Hue(3)

// The styles of texts.
var (
	plain  = chart.Sans(chart.TextSize, chart.Ink)
	strong = chart.Bold(chart.TextSize, chart.Ink)
	small  = chart.Sans(chart.SmallSize, chart.Ink)
	faint  = chart.Sans(chart.SmallSize, chart.SoftInk)
)

// canvas is what a picture is drawn on. Its unit is a point, and (0, 0) the upper left corner of what is between the
// margins.
type canvas struct{ draw.Canvas }

// drawing returns a picture as wide as all are.
func drawing(height vg.Length, shows string, on func(canvas)) chart.Chart {
	return chart.Drawing{Label: shows, Height: height, Draw: func(c draw.Canvas) { on(canvas{c}) }}
}

func (c canvas) at(x, y vg.Length) vg.Point { return vg.Point{X: c.Min.X + x, Y: c.Max.Y - y} }

// text writes one line; y is in the middle of its capitals.
func (c canvas) text(x, y vg.Length, style draw.TextStyle, text string) {
	at := c.at(x, y)
	chart.Write(c.Canvas, style, at.X, at.Y, text)
}

// line draws a line, solid without dashes.
func (c canvas) line(x1, y1, x2, y2 vg.Length, hue color.Color, dashes ...vg.Length) {
	c.StrokeLines(draw.LineStyle{Color: hue, Width: 0.75, Dashes: dashes}, []vg.Point{c.at(x1, y1), c.at(x2, y2)})
}

// paint is how a rectangle is filled.
type paint struct {
	color   color.NRGBA
	waiting bool // hatched: time that is spent waiting for the resource of that colour
}

// pale is the paint of a resource below a text.
func pale(hue color.NRGBA) paint { return paint{color: chart.Tint(hue)} }

// waiting is the paint of time spent waiting for a resource.
func waiting(hue color.NRGBA) paint { return paint{color: hue, waiting: true} }

// rect draws a filled rectangle, with its outline unless that is nil.
func (c canvas) rect(x, y, width, height vg.Length, fill paint, outline color.Color) {
	r := vg.Rectangle{Min: c.at(x, y+height), Max: c.at(x+width, y)}
	if fill.waiting {
		chart.Hatch(c.Canvas, r, color.White, draw.LineStyle{Color: fill.color, Width: 1.5}, 6)
	} else {
		chart.Fill(c.Canvas, fill.color, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
	}
	if outline != nil {
		c.StrokeLines(draw.LineStyle{Color: outline, Width: 0.75}, []vg.Point{r.Min, {X: r.Min.X, Y: r.Max.Y}, r.Max, {X: r.Max.X, Y: r.Min.Y}, r.Min})
	}
}

// key is a paint and what it stands for.
type key struct {
	name string
	fill paint
}

// legend explains paints at the top, side by side.
func (c canvas) legend(keys ...key) {
	const box, gap = 9, 18
	x := vg.Length(0)
	for _, k := range keys {
		c.rect(x, 0, box, box, k.fill, chart.SoftInk)
		c.text(x+box+5, box/2, small, k.name)
		x += box + 5 + small.Width(k.name) + gap
	}
}

// seconds draws a time axis from 0 to 120 s below (x, y).
func (c canvas) seconds(x, y, second vg.Length) {
	for seconds := 0; seconds <= 120; seconds += 20 {
		at := x + second*vg.Length(seconds)
		c.line(at, y, at, y+4, chart.SoftInk)
		c.text(at, y+13, chart.AlignCenter(faint), fmt.Sprintf("%d s", seconds))
	}
}
