package chart

import (
	"image"
	"image/color"
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

// cells returns a picture of rows and columns of cells, the first row at the top. A cell has about
// the number of pixels of a PNG at that size, so that smoothing does not blur its edges; index
// returns the colour of the pixel at (x, y) in one of them.
func cells(size vg.Point, rows, columns int, colors color.Palette, index func(row, column, x, y int) uint8) *image.Paletted {
	wide, high := pixels(size.X/vg.Length(columns)), pixels(size.Y/vg.Length(rows))
	picture := image.NewPaletted(image.Rect(0, 0, columns*wide, rows*high), colors)
	for y := range rows * high {
		line := picture.Pix[y*picture.Stride:][:picture.Stride]
		for x := range line {
			line[x] = index(y/high, x/wide, x, y)
		}
	}
	return picture
}

// pixels that a length takes in a PNG, at least one.
func pixels(length vg.Length) int {
	return max(1, int(math.Round(length.Dots(pngDotsPerInch))))
}
