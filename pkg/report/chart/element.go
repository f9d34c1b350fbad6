package chart

import (
	"bytes"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Element is a chart as an element of an HTML page.
type Element struct {
	// Label describes the chart in words, for readers who cannot see it. It is plain text.
	Label string
	// WidthPoints is how wide the chart is meant to be, in points (1/72 inch).
	WidthPoints float64
	// SVG is the element; texts in it are escaped.
	SVG string
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
	return Element{Label: c.label(), WidthPoints: float64(width / vg.Points(1)), SVG: "<svg" + element}, nil
}
