package chart

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// Distribution is a chart of the empirical distribution functions of several
// samples: for each value, how much of the sample is at or below it. The mean
// and the 95th percentile of each sample are marked on its curve and written
// in the legend.
type Distribution struct {
	// Title stands above the chart; may be empty.
	Title string
	// Quantity names the measured quantity, "dilation" say; it labels the horizontal axis.
	Quantity string
	// Unit of the values, such as "s" or "×"; empty if they have none.
	Unit string
	// Of names the owners of the values, in the plural, such as "pods"; it labels the vertical
	// axis. Empty means "values".
	Of string
	// Samples are drawn in this order; 1 to 10 of them, so that a reader can distinguish them.
	Samples []Sample
}

func (d Distribution) check() error {
	if d.Quantity == "" {
		return errors.New("quantity: is empty; name what the values measure")
	}
	if n := len(d.Samples); n < 1 || n > len(palette) {
		return fmt.Errorf("samples: there are %d; a chart shows 1 to %d", n, len(palette))
	}
	if err := checkNames("samples", ".name", d.names()); err != nil {
		return err
	}
	for i, sample := range d.Samples {
		if err := sample.check(); err != nil {
			return fmt.Errorf("samples[%d] (%q): %w", i, sample.Name, err)
		}
	}
	return nil
}

// size is 8 by 5 inches for two samples; a longer legend takes no room from
// the curves.
func (d Distribution) size() (width, height vg.Length) {
	return chartWidth, 5*vg.Inch + legendRow*vg.Length(max(0, len(d.Samples)-2))
}

func (d Distribution) drawInside(c draw.Canvas) {
	curves := make([]curve, len(d.Samples))
	for i, sample := range d.Samples {
		curves[i] = newCurve(i, sample)
	}
	c = drawTitle(c, d.Title)
	c = d.legend(curves).draw(c)
	of := "values"
	if d.Of != "" {
		of = text.Printable(d.Of)
	}
	DrawTitled(c, plotOf(curves), axisTitle(d.Quantity, d.Unit), "fraction of "+of+" at or below")
}

// legend has the figures of each curve.
func (d Distribution) legend(curves []curve) legend {
	grey := draw.LineStyle{Color: SoftInk}
	l := legend{swatchWidth: lineSwatchWidth, headers: []legendHeader{
		{text: "mean", glyph: meanGlyph(grey)}, {text: "p95", glyph: p95Glyph(grey)}, {text: "max"}, {text: "count"},
	}}
	unit := text.Printable(d.Unit)
	for _, curve := range curves {
		s := curve.summary
		l.entries = append(l.entries, legendEntry{
			name:    curve.name,
			figures: []string{text.Value(s.Mean) + unit, text.Value(s.P95) + unit, text.Value(s.Max) + unit, text.Count(int64(s.Count))},
			swatch:  lineSwatch(curve.line),
		})
	}
	return l
}

// plotOf sets up the axes and adds the curves.
func plotOf(curves []curve) *plot.Plot {
	p := NewPlot()
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = percentTicks(0, 0.25, 0.5, 0.75, 0.95, 1)

	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		low, high = math.Min(low, c.steps.least()), math.Max(high, c.steps.largest())
	}
	low, high = padded(low, high, false)
	setAxis(&p.X, low, high, false)
	p.Add(newGrid())
	for _, c := range curves {
		p.Add(c)
	}
	for _, c := range curves {
		p.Add(marks{c})
	}
	return p
}
