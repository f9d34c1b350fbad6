package chart

import (
	"image"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawPicture draws a picture over all of a canvas. A viewer keeps the
// proportions of a picture; so it is drawn one point per pixel, and the canvas is
// stretched.
func drawPicture(c draw.Canvas, picture image.Image) {
	size := c.Size()
	width, height := vg.Length(picture.Bounds().Dx()), vg.Length(picture.Bounds().Dy())
	c.Push()
	c.Translate(c.Min)
	c.Scale(float64(size.X/width), float64(size.Y/height))
	c.DrawImage(vg.Rectangle{Max: vg.Point{X: width, Y: height}}, picture)
	c.Pop()
}

// pixels that a length takes in a PNG, at least one.
func pixels(length vg.Length) int {
	return max(1, int(math.Round(length.Dots(pngDotsPerInch))))
}
