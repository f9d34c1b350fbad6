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

// Scatter is a chart of predicted against measured values: one dot per pair,
// on two axes of the same scale. Exact predictions lie on the diagonal, those
// within ±10% of the measurement in a shaded band. The legend has the errors of
// each series.
//
// The chart shows 8,000 dots at most. With more pairs than that it leaves out
// dots beside which another one of the series is drawn, so lone dots stay; the
// figures in the legend are of all pairs.
type Scatter struct {
	// Title stands above the chart; may be empty.
	Title string
	// Quantity names the measured and predicted quantity, "dilation" say; not empty.
	Quantity string
	// Unit of the values, such as "s" or "×"; empty if they have none.
	Unit string
	// Series are drawn in this order; 1 to 10 of them, so that a reader can distinguish them, with
	// 100,000 pairs at most in all.
	Series []Series
	// Log draws both axes to a logarithmic scale.
	Log bool
}

// Series is a named set of pairs, such as the predictions of one model.
type Series struct {
	// Name identifies the series in the legend, "linearizer" say; not empty and
	// unique in its chart.
	Name string
	// Pairs in any order; at least one.
	Pairs []Pair
}

// Pair is a measured value and the prediction for it.
type Pair struct {
	// Measured and Predicted are above 0, from 1e-100 to 1e100.
	Measured, Predicted float64
}

const (
	maxScatterPairs = 100_000
	// maxScatterValue bounds the values, so that sums of relative errors are
	// finite.
	maxScatterValue = 1e100
)

func (s Scatter) check() error {
	if s.Quantity == "" {
		return errors.New("quantity: is empty; name what was measured and predicted")
	}
	if n := len(s.Series); n < 1 || n > len(palette) {
		return fmt.Errorf("series: there are %d; a chart shows 1 to %d", n, len(palette))
	}
	if err := checkNames("series", ".name", s.names()); err != nil {
		return err
	}
	pairs := 0
	for i, series := range s.Series {
		if len(series.Pairs) == 0 {
			return fmt.Errorf("series[%d] (%q).pairs: is empty", i, series.Name)
		}
		pairs += len(series.Pairs)
		for k, pair := range series.Pairs {
			if err := pair.check(); err != nil {
				return fmt.Errorf("series[%d] (%q).pairs[%d].%w", i, series.Name, k, err)
			}
		}
	}
	if pairs > maxScatterPairs {
		return fmt.Errorf("series: have %d pairs; show at most %d, a sample of them say", pairs, maxScatterPairs)
	}
	return nil
}

func (p Pair) check() error {
	if err := checkPositive(p.Measured); err != nil {
		return fmt.Errorf("measured: %w", err)
	}
	if err := checkPositive(p.Predicted); err != nil {
		return fmt.Errorf("predicted: %w", err)
	}
	return nil
}

func checkPositive(x float64) error {
	if !(x >= 1/maxScatterValue && x <= maxScatterValue) {
		return fmt.Errorf("%v is not between %g and %g; relative errors need values above 0", x, 1/maxScatterValue, maxScatterValue)
	}
	return nil
}

// Room above and to the right of the plot, for the names of its lines.
const (
	roomAbove  = 14
	roomBeside = 30
)

// size leaves room for a square between the axes, which take as much below
// the plot as to its left.
func (s Scatter) size() (width, height vg.Length) {
	const scatterWidth = 6.5 * vg.Inch
	width = scatterWidth
	height = width + legendHeight(len(s.Series)) + roomAbove - roomBeside + titleRoom(s.Title)
	return width, height
}

func (s Scatter) drawInside(c draw.Canvas) {
	c = drawTitle(c, s.Title)
	c = s.legend().draw(c)
	p := s.plot()
	c = squared(p, draw.Crop(c, 0, -roomBeside, 0, -roomAbove))
	title := axisTitle(s.Quantity, s.Unit)
	DrawTitled(c, p, "measured "+title, "predicted "+title)
}

// squared crops a canvas at the right or at the bottom so that both axes of
// the plot are equally long.
func squared(p *plot.Plot, c draw.Canvas) draw.Canvas {
	data := p.DataCanvas(c).Size()
	return draw.Crop(c, 0, -max(0, data.X-data.Y), max(0, data.Y-data.X), 0)
}

// legend has the accuracy of each series.
func (s Scatter) legend() legend {
	l := legend{swatchWidth: dotSwatchWidth, headers: []legendHeader{
		{text: "mean |error|"}, {text: "p90 |error|"}, {text: "count"},
	}}
	for i, series := range s.Series {
		a := accuracyOf(series.Pairs)
		l.entries = append(l.entries, legendEntry{
			name:    text.Printable(series.Name),
			figures: []string{text.Value(100*a.mean) + "%", text.Value(100*a.p90) + "%", text.Count(int64(a.count))},
			swatch:  dotSwatch(translucent(i, 3.5)),
		})
	}
	return l
}

// plot sets up the axes and adds the band, the diagonal and the dots.
func (s Scatter) plot() *plot.Plot {
	low, high := s.limits()
	p := NewPlot()
	setAxis(&p.X, low, high, s.Log)
	setAxis(&p.Y, low, high, s.Log)
	p.Add(band{low, high}, newGrid(), newDots(s.Series), diagonal{low, high})
	return p
}

// limits of both axes.
func (s Scatter) limits() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, series := range s.Series {
		for _, pair := range series.Pairs {
			low = min(low, pair.Measured, pair.Predicted)
			high = max(high, pair.Measured, pair.Predicted)
		}
	}
	low, high = padded(low, high, s.Log)
	return max(0, low), high
}
