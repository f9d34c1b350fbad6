package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendRow is the height of a line of the legend.
const legendRow = TextSize * 1.5

// The widths of swatches.
const (
	dotSwatchWidth  = 14
	lineSwatchWidth = 34
)

// swatch shows how the plot draws a series, from x to the right, centred on y.
type swatch func(c draw.Canvas, x, y vg.Length)

func dotSwatch(glyph draw.GlyphStyle) swatch {
	return func(c draw.Canvas, x, y vg.Length) {
		c.DrawGlyphNoClip(glyph, vg.Point{X: x + dotSwatchWidth/2, Y: y})
	}
}

func lineSwatch(line draw.LineStyle) swatch {
	return func(c draw.Canvas, x, y vg.Length) { c.StrokeLine2(line, x, y, x+lineSwatchWidth, y) }
}

// legend is a small table above a plot, where it covers no data: a line for
// each series with its swatch, its name and its figures.
type legend struct {
	swatchWidth vg.Length
	headers     []legendHeader
	entries     []legendEntry
}

// legendHeader stands above a column of figures.
type legendHeader struct {
	text  string
	glyph draw.GlyphStyle // marks the figure in the plot; without a shape, nothing does
}

type legendEntry struct {
	name    string
	figures []string // one per header
	swatch  swatch
}

// legendHeight is that of the table and of the gap below it.
func legendHeight(entries int) vg.Length { return vg.Length(entries+1)*legendRow + 8 }

// draw writes the table at the top left and returns the canvas below it.
func (l legend) draw(c draw.Canvas) draw.Canvas {
	const (
		gap        = 22
		glyphRoom  = 10
		leastName  = 60
		widestName = 260
	)
	name, number, head := Sans(TextSize, Ink), AlignRight(Sans(TextSize, Ink)), AlignRight(Sans(SmallSize, SoftInk))

	left := c.Min.X + l.swatchWidth + 8
	room := c.Max.X - left
	widths := make([]vg.Length, len(l.headers))
	for k, header := range l.headers {
		widths[k] = head.Width(header.text)
		if header.glyph.Shape != nil {
			widths[k] += glyphRoom
		}
		for _, entry := range l.entries {
			widths[k] = max(widths[k], number.Width(entry.figures[k]))
		}
		room -= gap + widths[k]
	}
	names := make([]string, len(l.entries))
	var nameWidth vg.Length
	for i, entry := range l.entries {
		names[i] = fit(name, entry.name, min(max(room, leastName), widestName))
		nameWidth = max(nameWidth, name.Width(names[i]))
	}

	y := c.Max.Y - legendRow/2
	rights := make([]vg.Length, len(l.headers))
	x := left + nameWidth
	for k, header := range l.headers {
		x += gap + widths[k]
		rights[k] = x
		Write(c, head, x, y, header.text)
		if header.glyph.Shape != nil {
			c.DrawGlyphNoClip(header.glyph, vg.Point{X: x - head.Width(header.text) - 7, Y: y})
		}
	}
	for i, entry := range l.entries {
		y -= legendRow
		entry.swatch(c, c.Min.X, y)
		Write(c, name, left, y, names[i])
		for k, figure := range entry.figures {
			Write(c, number, rights[k], y, figure)
		}
	}
	return draw.Crop(c, 0, 0, 0, -legendHeight(len(l.entries)))
}
