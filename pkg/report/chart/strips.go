package chart

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// strips draws the inside of a chart of occupancy. As a picture its values take
// a byte or two each; as many rectangles they would take a hundred.
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

// picture has a rectangle of pixels for each value, about as many as a PNG has
// on that size, so that smoothing them does not blur the edges.
func (s strips) picture(size vg.Point) *image.Paletted {
	bins, machines := len(s.chart.Strips[0].Values), len(s.chart.Strips)
	wide, high := pixels(size.X/vg.Length(bins)), pixels(size.Y/vg.Length(machines))
	all := make(color.Palette, 0, valueColors+2)
	for i := range valueColors {
		all = append(all, heatAt(float64(i)/(valueColors-1)))
	}
	all = append(all, Backdrop, hatchLine)

	picture := image.NewPaletted(image.Rect(0, 0, bins*wide, machines*high), all)
	for i, strip := range s.chart.Strips {
		for y := i * high; y < (i+1)*high; y++ {
			row := picture.Pix[y*picture.Stride:]
			if y >= i*high+stripeDistance { // all repeats
				copy(row, picture.Pix[(y-stripeDistance)*picture.Stride:][:picture.Stride])
				continue
			}
			for x := range picture.Stride {
				row[x] = s.colorIndex(strip.Values[x/wide], x, y)
			}
		}
	}
	return picture
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
