package chart

import (
	"image/color"

	"loadline.dev/loadline/pkg/report/text"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The look that all charts share. Lengths are points (1/72 inch).
const (
	chartWidth = 8 * vg.Inch
	margin     = 16 * vg.Length(1)

	titleSize = 13
	textSize  = 10
	smallSize = 9

	titleHeight = titleSize * 1.9
)

var (
	ink      = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xFF}
	softInk  = color.NRGBA{R: 0x66, G: 0x66, B: 0x66, A: 0xFF}
	gridLine = color.NRGBA{R: 0xDD, G: 0xDD, B: 0xDD, A: 0xFF}
	backdrop = color.NRGBA{R: 0xF4, G: 0xF4, B: 0xF4, A: 0xFF}

	// hatchLine is what stripes on the backdrop are drawn in.
	hatchLine = color.NRGBA{R: 0xC4, G: 0xC4, B: 0xC4, A: 0xFF}

	// bandColor is what is nearly right; grid lines show on it.
	bandColor = color.NRGBA{R: 0xEE, G: 0xF3, B: 0xEC, A: 0xFF}
)

// sans is the text style of charts, aligned left on the baseline.
func sans(size vg.Length, c color.Color) draw.TextStyle {
	return draw.TextStyle{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

func bold(size vg.Length, c color.Color) draw.TextStyle {
	style := sans(size, c)
	style.Font.Weight = xfont.WeightBold
	return style
}

func alignRight(style draw.TextStyle) draw.TextStyle {
	style.XAlign = draw.XRight
	return style
}

func alignCenter(style draw.TextStyle) draw.TextStyle {
	style.XAlign = draw.XCenter
	return style
}

// write puts one line of text at (x, y), y being half the height of a capital
// above the baseline. The alignments of gonum/plot centre the whole line box
// instead, which looks too low beside a line or a glyph.
func write(c draw.Canvas, style draw.TextStyle, x, y vg.Length, text string) {
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
	write(c, style, 0, 0, text)
	c.Pop()
}

// fill paints a rectangle.
func fill(c draw.Canvas, clr color.Color, left, bottom, right, top vg.Length) {
	c.FillPolygon(clr, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
}

func center(r vg.Rectangle) vg.Point { return r.Min.Add(r.Max).Scale(0.5) }

// fit cuts a text, with an ellipsis, to what the style can write in the width.
func fit(style draw.TextStyle, text string, width vg.Length) string {
	if style.Width(text) <= width {
		return text
	}
	runes := []rune(text)
	for len(runes) > 0 && style.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// fitMiddle is fit for names, which often differ in their ends only: it keeps
// both ends.
func fitMiddle(style draw.TextStyle, text string, width vg.Length) string {
	if style.Width(text) <= width {
		return text
	}
	runes := []rune(text)
	for kept := len(runes) - 1; kept > 0; kept-- {
		head, tail := (kept+1)/2, kept/2
		if cut := string(runes[:head]) + "…" + string(runes[len(runes)-tail:]); style.Width(cut) <= width {
			return cut
		}
	}
	return "…"
}

// newPlot is an empty plot in our look, its axes not yet labelled.
func newPlot() *plot.Plot {
	p := plot.New()
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color = softInk
		axis.Label.TextStyle.Font = sans(textSize, ink).Font
		axis.Label.TextStyle.Color = ink
		axis.Label.Padding = 6
		axis.Tick.Label.Font = sans(smallSize, ink).Font
		axis.Tick.Label.Color = ink
		axis.Tick.Color = softInk
		axis.Tick.Length = 4
		axis.Padding = 0
	}
	return p
}

// drawTitle writes the title at the top left and returns the canvas below it.
func drawTitle(c draw.Canvas, title string) draw.Canvas {
	if title == "" {
		return c
	}
	style := bold(titleSize, ink)
	style.YAlign = draw.YTop
	title = fit(style, text.Printable(title), c.Max.X-c.Min.X)
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	return draw.Crop(c, 0, 0, 0, -titleHeight)
}
