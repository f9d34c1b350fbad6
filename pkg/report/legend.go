package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendRow is the height of a line of the legend.
const legendRow = textSize * 1.5

// drawLegend writes a small table above the plot, where it covers no curve:
// each sample's line, name, mean, 95th percentile and maximum. It returns the
// canvas below.
func (d Distribution) drawLegend(c draw.Canvas, curves []curve) draw.Canvas {
	const (
		row      = legendRow
		swatch   = 34
		gap      = 22
		maxNames = 260
	)
	name, number, head := sans(textSize, ink), alignRight(sans(textSize, ink)), alignRight(sans(smallSize, softInk))

	headers := []string{"mean", "p95", "max", "count"}
	table := make([][]string, len(curves))
	names := make([]string, len(curves))
	widths := make([]vg.Length, len(headers))
	for k, header := range headers {
		widths[k] = head.Width(header) + 10 // a glyph stands before the header
	}
	var nameWidth vg.Length
	for i, curve := range curves {
		names[i] = fit(name, curve.name, maxNames)
		nameWidth = max(nameWidth, name.Width(names[i]))
		s := curve.summary
		unit := printable(d.Unit)
		table[i] = []string{Value(s.Mean) + unit, Value(s.P95) + unit, Value(s.Max) + unit, Count(int64(s.Count))}
		for k, cell := range table[i] {
			widths[k] = max(widths[k], number.Width(cell))
		}
	}

	left := c.Min.X + swatch + 8
	rights := make([]vg.Length, len(headers))
	for k, x := 0, left+nameWidth; k < len(headers); k++ {
		x += gap + widths[k]
		rights[k] = x
	}

	y := c.Max.Y - row/2
	grey := draw.LineStyle{Color: softInk}
	glyphs := []draw.GlyphStyle{meanGlyph(grey), p95Glyph(grey)}
	for k, header := range headers {
		write(c, head, rights[k], y, header)
		if k < len(glyphs) {
			c.DrawGlyphNoClip(glyphs[k], vg.Point{X: rights[k] - head.Width(header) - 7, Y: y})
		}
	}
	for i, curve := range curves {
		y -= row
		c.StrokeLine2(curve.line, c.Min.X, y, c.Min.X+swatch, y)
		write(c, name, left, y, names[i])
		for k, cell := range table[i] {
			write(c, number, rights[k], y, cell)
		}
	}
	return draw.Crop(c, 0, 0, 0, -(vg.Length(len(curves)+1)*row + 8))
}
