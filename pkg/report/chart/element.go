package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/text"
)

// Element is a chart as an element of an HTML page.
type Element struct {
	// Label describes the chart in words, for readers who cannot see it. It is plain text.
	Label string
	// WidthPoints is how wide the chart is meant to be, in points (1/72 inch).
	WidthPoints float64
	// SVG is the element; texts in it are escaped. A page may give the colours of its areas without data, see [Variables].
	SVG string
	// Table has the numbers of the chart: of long series it has many rows, and columns. It is nil for a [Drawing] without numbers.
	Table *text.Table
}

// ElementOf draws a chart. The error names the field that cannot be drawn.
func ElementOf(c Chart) (Element, error) {
	var b bytes.Buffer
	if err := Encode(&b, c, SVG); err != nil {
		return Element{}, err
	}
	// What stands before the element is for files of their own.
	_, element, found := strings.Cut(b.String(), "<svg")
	if !found {
		panic("chart: a drawing without an svg element")
	}
	width, _ := c.size()
	return Element{Label: c.label().String(), WidthPoints: float64(width / vg.Points(1)), SVG: "<svg" + recolored(element), Table: c.table()}, nil
}

// variables are the colours of areas without data by the names of the variables of CSS with which a page gives others.
var variables = map[string]color.NRGBA{
	"ground": {R: 0xFF, G: 0xFF, B: 0xFF, A: 0xFF}, "ink": Ink, "soft": SoftInk, "grid": GridLine, "backdrop": Backdrop, "hatch": hatchLine, "band": bandColor,
}

// styles finds the attributes of elements that say how they look. In texts quotes are escaped.
var styles = regexp.MustCompile(`style="[^"]*"`)

// recolored returns an element of SVG whose areas without data have the colours of the variables --chart-ground, --chart-ink and so on of
// the page that it is in, and their own where it gives none.
func recolored(svg string) string {
	var pairs []string
	for name, c := range variables {
		hex := fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)
		pairs = append(pairs, hex, "var(--chart-"+name+","+hex+")")
	}
	replacer := strings.NewReplacer(pairs...)
	return styles.ReplaceAllStringFunc(svg, replacer.Replace)
}
