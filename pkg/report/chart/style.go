package chart

import (
	"image/color"
	"sort"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// The sizes of texts, in points (1/72 inch).
const (
	TextSize  = 10
	SmallSize = 9
	titleSize = 13
)

// The look that all charts share. Lengths are points.
const (
	chartWidth  = 8 * vg.Inch
	margin      = 16 * vg.Length(1)
	titleHeight = titleSize * 1.9
)

// The colours of areas without data. They must not be changed.
var (
	Ink      = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xFF} // of texts and of what must be seen
	SoftInk  = color.NRGBA{R: 0x66, G: 0x66, B: 0x66, A: 0xFF} // of axes and remarks
	GridLine = color.NRGBA{R: 0xDD, G: 0xDD, B: 0xDD, A: 0xFF}
	Backdrop = color.NRGBA{R: 0xF4, G: 0xF4, B: 0xF4, A: 0xFF} // of the area below data
)

var (
	// hatchLine is the colour of stripes on the backdrop.
	hatchLine = color.NRGBA{R: 0xC4, G: 0xC4, B: 0xC4, A: 0xFF}

	// bandColor is the colour of nearly right values; grid lines show on it.
	bandColor = color.NRGBA{R: 0xEE, G: 0xF3, B: 0xEC, A: 0xFF}
)

// Sans returns the text style of charts, aligned left on the baseline.
func Sans(size vg.Length, c color.Color) draw.TextStyle {
	return draw.TextStyle{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

// Bold returns the style of texts that stand out.
func Bold(size vg.Length, c color.Color) draw.TextStyle {
	style := Sans(size, c)
	style.Font.Weight = xfont.WeightBold
	return style
}

// AlignRight returns the style of texts that end at their point.
func AlignRight(style draw.TextStyle) draw.TextStyle {
	style.XAlign = draw.XRight
	return style
}

// AlignCenter returns the style of texts whose middle is their point.
func AlignCenter(style draw.TextStyle) draw.TextStyle {
	style.XAlign = draw.XCenter
	return style
}

// Write puts one line of text at (x, y), y being half the height of a capital
// above the baseline. The alignments of gonum/plot centre the whole line box
// instead, which looks too low beside a line or a glyph.
func Write(c draw.Canvas, style draw.TextStyle, x, y vg.Length, text string) {
	const halfCapital = 0.36
	size := style.Font.Size
	boxToBaseline := size - style.FontExtents().Ascent // as the plain text handler places it
	c.FillText(style, vg.Point{X: x, Y: y - halfCapital*size - boxToBaseline}, text)
}

// writeTurned is write for a line that rises by an angle, in radians.
func writeTurned(c draw.Canvas, style draw.TextStyle, x, y vg.Length, angle float64, text string) {
	c.Push()
	c.Translate(vg.Point{X: x, Y: y})
	c.Rotate(angle)
	Write(c, style, 0, 0, text)
	c.Pop()
}

// Fill paints a rectangle.
func Fill(c draw.Canvas, clr color.Color, left, bottom, right, top vg.Length) {
	c.FillPolygon(clr, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
}

// outline draws the edges of a rectangle.
func outline(c draw.Canvas, r vg.Rectangle, line draw.LineStyle) {
	c.StrokeLines(line, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min})
}

func center(r vg.Rectangle) vg.Point { return r.Min.Add(r.Max).Scale(0.5) }

// fit cuts a text, with an ellipsis, to the part that the style can write in the width.
func fit(style draw.TextStyle, text string, width vg.Length) string {
	if style.Width(text) <= width {
		return text
	}
	runes := []rune(text)
	return longest(style, len(runes), width, func(kept int) string { return string(runes[:kept]) + "…" })
}

// fitMiddle is fit for names, which often differ in their ends only: it keeps
// both ends.
func fitMiddle(style draw.TextStyle, text string, width vg.Length) string {
	if style.Width(text) <= width {
		return text
	}
	runes := []rune(text)
	return longest(style, len(runes), width, func(kept int) string {
		return string(runes[:(kept+1)/2]) + "…" + string(runes[len(runes)-kept/2:])
	})
}

// longest returns the longest cut of a text that fits, among those that keep fewer than all of its
// characters, or the one that keeps none. It measures few of them: names may be long.
func longest(style draw.TextStyle, all int, width vg.Length, cut func(kept int) string) string {
	const longestText = 1000 // no chart has room for more
	tooWide := sort.Search(min(all, longestText), func(kept int) bool { return style.Width(cut(kept)) > width })
	return cut(max(0, tooWide-1))
}

// NewPlot returns an empty plot in the look of charts, its axes not yet labelled.
func NewPlot() *plot.Plot {
	p := plot.New()
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color = SoftInk
		axis.Label.TextStyle.Font = Sans(TextSize, Ink).Font
		axis.Label.TextStyle.Color = Ink
		axis.Label.Padding = 6
		axis.Tick.Label.Font = Sans(SmallSize, Ink).Font
		axis.Tick.Label.Color = Ink
		axis.Tick.Color = SoftInk
		axis.Tick.Length = 4
		axis.Padding = 0
	}
	return p
}

// titleRoom is the height that a title takes, if there is one.
func titleRoom(title string) vg.Length {
	if title == "" {
		return 0
	}
	return titleHeight
}

// drawTitle writes the title at the top left and returns the canvas below it.
func drawTitle(c draw.Canvas, title string) draw.Canvas {
	if title == "" {
		return c
	}
	style := Bold(titleSize, Ink)
	style.YAlign = draw.YTop
	title = fit(style, text.Printable(title), c.Max.X-c.Min.X)
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	return draw.Crop(c, 0, 0, 0, -titleHeight)
}
