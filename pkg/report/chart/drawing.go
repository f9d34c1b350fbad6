package chart

import (
	"errors"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// Drawing is a chart that no other kind shows. Its caller draws it, in the look of the others: with
// [Sans] and [Write] for texts, [Ink] and [Hue] for colours, and [NewPlot] and [DrawTitled] for
// charts with axes.
type Drawing struct {
	// Label describes the drawing in words, for readers who cannot see it; not empty.
	Label string
	// Height is that of the chart with its margins, in points, above 0. It is as wide
	// as most charts are.
	Height vg.Length
	// Draw draws between the margins.
	Draw func(draw.Canvas)
	// Numbers are those that are drawn; nil for a drawing of none.
	Numbers *text.Table
}

func (d Drawing) check() error {
	switch {
	case d.Label == "":
		return errors.New("label: is empty; say what is drawn")
	case !(d.Height > 0):
		return errors.New("height: is not above 0")
	case d.Draw == nil:
		return errors.New("draw: is missing")
	}
	return nil
}

func (d Drawing) label() label { return labelOf("", d.Label, nil) }

func (d Drawing) size() (width, height vg.Length) { return chartWidth, d.Height }

func (d Drawing) drawInside(c draw.Canvas) { d.Draw(c) }
