package chart

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// strips draws the inside of a chart of occupancy. As a picture its values take a byte or two each;
// as rectangles they would take a hundred each.
type strips struct {
	chart  Occupancy
	colors colorScale
}

// Plot draws the picture, and thin white lines between the strips if there is
// room for them.
func (s strips) Plot(c draw.Canvas, p *plot.Plot) {
	const line, roomForLines = 0.6, 4.5
	drawPicture(c, s.picture(c.Size()))

	_, toY := p.Transforms(&c)
	if toY(0)-toY(-1) >= roomForLines {
		for i := 1; i < len(s.chart.Strips); i++ {
			c.StrokeLine2(draw.LineStyle{Color: color.White, Width: line}, c.Min.X, toY(-float64(i)), c.Max.X, toY(-float64(i)))
		}
	}
}

// Colours of the picture, by their index: those of values, then those of the
// stripes for unknown ones.
const (
	valueColors = 254
	ground      = valueColors
	stripe      = valueColors + 1
)

// Stripes for unknown values, in pixels along a row or a column.
const stripeDistance, stripeWidth = 12, 2

// picture paints the values.
func (s strips) picture(size vg.Point) *image.Paletted {
	colors := make(color.Palette, 0, valueColors+2)
	for i := range valueColors {
		colors = append(colors, Heat(float64(i)/(valueColors-1)))
	}
	colors = append(colors, Backdrop, hatchLine)
	return cells(size, len(s.chart.Strips), len(s.chart.Strips[0].Values), colors, func(row, column, x, y int) uint8 {
		return s.colorIndex(s.chart.Strips[row].Values[column], x, y)
	})
}

// colorIndex hatches unknown values.
func (s strips) colorIndex(value float64, x, y int) uint8 {
	switch {
	case !math.IsNaN(value):
		return uint8(math.Round(s.colors.position(value) * (valueColors - 1)))
	case (x+stripeDistance-y%stripeDistance)%stripeDistance < stripeWidth:
		return stripe
	default:
		return ground
	}
}
