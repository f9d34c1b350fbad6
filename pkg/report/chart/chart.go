package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"loadline.dev/loadline/pkg/text"
)

// Chart is what can be drawn: a [Comparison], a [Distribution], a [Drawing], a
// [HeatMap], [Intervals], an [Occupancy], [Regions], a [Scatter], a [ShareTree], a
// [Staircase] or a [Timeline].
type Chart interface {
	// label describes the chart in words, and table has its numbers, for readers who cannot see it.
	label() label
	table() *text.Table
	// check says which field cannot be drawn, and why.
	check() error
	size() (width, height vg.Length)
	// drawInside draws a chart that passed check.
	drawInside(draw.Canvas)
}

// Format is a file format for charts.
type Format string

const (
	// SVG scales and is small; its texts can be searched. Viewers without the
	// Liberation Sans font use Arial, which has the same widths.
	SVG Format = "svg"
	// PNG has 200 pixels per inch: most charts are 1600 pixels wide, a scatter and
	// regions 1300, a comparison and a heat map as wide as they need to be.
	// Characters that the font lacks, such as Chinese ones, are left out of it:
	// SVG leaves them to the viewer.
	PNG Format = "png"
)

const pngDotsPerInch = 200

// FormatOf returns the format that follows from the extension of a file name, in upper or
// lower case. Call it before a long computation whose result is to be drawn.
func FormatOf(path string) (Format, error) {
	switch format := Format(strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")); format {
	case SVG, PNG:
		return format, nil
	case "":
		return "", fmt.Errorf("%s: a chart's file name must end in .svg or .png", path)
	default:
		return "", fmt.Errorf("%s: cannot draw .%s; a chart's file name must end in .svg or .png", path, format)
	}
}

// Encode draws a chart and writes it to w in the given format. The error names the
// field of the chart that cannot be drawn, or is w's.
func Encode(w io.Writer, chart Chart, format Format) error {
	if err := chart.check(); err != nil {
		return err
	}
	switch format {
	case SVG:
		return encodeSVG(w, chart)
	case PNG:
		return encodePNG(w, chart, pngDotsPerInch)
	default:
		return fmt.Errorf("format: %q is neither svg nor png", string(format))
	}
}

// encodePNG draws a chart that passed check.
func encodePNG(w io.Writer, chart Chart, dotsPerInch int) error {
	width, height := chart.size()
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerInch))
	drawOn(canvas, chart)
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// encodeSVG draws a chart that passed check. It says what the drawing shows, adds fonts to fall back on to
// the one that texts are measured with, and says which format pictures have,
// which gonum/plot gets wrong.
func encodeSVG(w io.Writer, chart Chart) error {
	canvas := vgsvg.New(chart.size())
	drawOn(canvas, chart)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	svg := bytes.ReplaceAll(b.Bytes(),
		[]byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	svg = bytes.ReplaceAll(svg, []byte(`"data:image/jpg;base64,`), []byte(`"data:image/png;base64,`))
	before, element, _ := bytes.Cut(svg, []byte("<svg "))
	attributes, drawn, _ := bytes.Cut(element, []byte(">"))
	l := chart.label()
	_, err := fmt.Fprintf(w, "%s<svg role=\"img\" %s>\n<title>%s</title>\n<desc>%s</desc>%s",
		before, attributes, html.EscapeString(cmp.Or(l.title, l.what)), html.EscapeString(l.what), drawn)
	return err
}

func drawOn(canvas vg.CanvasSizer, chart Chart) {
	whole := draw.New(canvas)
	Fill(whole, color.White, whole.Min.X, whole.Min.Y, whole.Max.X, whole.Max.Y) // SVG is transparent otherwise
	chart.drawInside(draw.Crop(whole, margin, -margin, margin, -margin))
}
