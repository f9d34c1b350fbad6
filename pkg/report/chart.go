package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is what can be drawn: a [Distribution], a [HeatMap], a [Scatter] or a
// [Timeline].
type Chart interface {
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
	// PNG has 200 pixels per inch: a distribution or a timeline is 1600 pixels
	// wide, a scatter 1300, a heat map as wide as its matrix needs.
	PNG Format = "png"
)

const pngDotsPerInch = 200

// FormatOf tells the format from the extension of a file name, in upper or
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

// EncodeChart draws a chart and writes it to w in the given format. The error
// names the field of the chart that cannot be drawn, or is w's.
func EncodeChart(w io.Writer, chart Chart, format Format) error {
	if err := chart.check(); err != nil {
		return err
	}
	width, height := chart.size()
	switch format {
	case SVG:
		canvas := vgsvg.New(width, height)
		drawOn(canvas, chart)
		return writeSVG(w, canvas)
	case PNG:
		canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDotsPerInch))
		drawOn(canvas, chart)
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	default:
		return fmt.Errorf("format: %q is neither svg nor png", string(format))
	}
}

func drawOn(canvas vg.CanvasSizer, chart Chart) {
	whole := draw.New(canvas)
	fill(whole, color.White, whole.Min.X, whole.Min.Y, whole.Max.X, whole.Max.Y) // SVG is transparent otherwise
	chart.drawInside(draw.Crop(whole, margin, -margin, margin, -margin))
}

// writeSVG adds fonts to fall back on to the one that texts are measured with.
func writeSVG(w io.Writer, canvas *vgsvg.Canvas) error {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	svg := bytes.ReplaceAll(b.Bytes(),
		[]byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	_, err := w.Write(svg)
	return err
}
