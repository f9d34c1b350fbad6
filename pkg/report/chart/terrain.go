package chart

import (
	"image"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// terrain draws the inside of a map of regions, as a picture: rectangles would take fifty times as
// much.
type terrain struct{ regions Regions }

// Plot draws the cells.
func (t terrain) Plot(c draw.Canvas, _ *plot.Plot) { drawPicture(c, t.picture(c.Size())) }

// picture paints the cells, the first row at the bottom.
func (t terrain) picture(size vg.Point) *image.Paletted {
	rows, columns := len(t.regions.Cells), len(t.regions.Cells[0])
	var colors color.Palette
	for _, finding := range t.regions.Findings {
		colors = append(colors, leanColor(finding.Lean))
	}
	return cells(size, rows, columns, colors, func(row, column, _, _ int) uint8 {
		return uint8(t.regions.Cells[rows-1-row][column])
	})
}

// here marks a point of a map.
type here struct{ x, y float64 }

// Plot draws a dot with a ring around it, which is visible on any colour, and its label.
func (h here) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	at := vg.Point{X: toX(h.x), Y: toY(h.y)}
	const radius = 3.4
	c.DrawGlyphNoClip(disc(color.White, radius*1.7), at)
	c.DrawGlyphNoClip(disc(Ink, radius), at)
	writeBeside(c, at, radius*1.7, "now")
}

// writeBeside writes a text beside a dot, at the first side or corner at which it stays
// within the canvas.
func writeBeside(c draw.Canvas, dot vg.Point, radius vg.Length, text string) {
	const veil = 0xA0 // opacity of the ground behind the text
	style := Sans(SmallSize, Ink)
	size, gap := vg.Point{X: style.Width(text) + 4, Y: SmallSize * 1.2}, radius+1
	place := func(x, y vg.Length) vg.Rectangle {
		middle := vg.Point{X: dot.X + x*(gap+size.X/2), Y: dot.Y + y*(gap+size.Y/2)}
		return vg.Rectangle{Min: middle.Sub(size.Scale(0.5)), Max: middle.Add(size.Scale(0.5))}
	}
	box := place(1, 0)
	for _, d := range []vg.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}, {X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: 1}, {X: -1, Y: -1}} {
		if b := place(d.X, d.Y); b.Min.X >= c.Min.X && b.Max.X <= c.Max.X && b.Min.Y >= c.Min.Y && b.Max.Y <= c.Max.Y {
			box = b
			break
		}
	}
	Fill(c, color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: veil}, box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
	Write(c, style, box.Min.X+2, center(box).Y, text)
}

// leanColor is the colour of a finding: the further from 0, the darker. Blue and
// orange are apart for colour-blind people too.
func leanColor(lean float64) color.NRGBA {
	var (
		neutral = color.NRGBA{R: 0xF2, G: 0xF2, B: 0xF2, A: 0xFF}
		blues   = []color.NRGBA{{R: 0xD6, G: 0xE8, B: 0xF5, A: 0xFF}, {R: 0x00, G: 0x3C, B: 0x6B, A: 0xFF}}
		oranges = []color.NRGBA{{R: 0xFF, G: 0xE3, B: 0xBD, A: 0xFF}, {R: 0x98, G: 0x34, B: 0x00, A: 0xFF}}
	)
	switch {
	case lean < 0:
		return mix(blues[0], blues[1], -lean)
	case lean > 0:
		return mix(oranges[0], oranges[1], lean)
	default:
		return neutral
	}
}
