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

// Comparison is a chart of one quantity of several contenders in several cases,
// such as the makespan of job streams under placement policies: a column of
// dots per case, one for each contender, always in the same order. The chart
// widens with the number of dots, from 8 to 18 inches.
type Comparison struct {
	// Title stands above the chart; may be empty.
	Title string
	// Quantity names the measured quantity, "makespan" say; it labels the vertical axis. Not empty.
	Quantity string
	// Unit of the values, such as "s" or "×"; empty if they have none.
	Unit string
	// CasesAre names the kind of the cases, such as "job stream"; may be empty.
	CasesAre string
	// Cases from left to right are named, 1 to 50 of them; the names are not
	// empty, and unique. Cases times contenders are 200 at most.
	Cases []string
	// Contenders are drawn in this order; 1 to 10 of them, so that a reader can distinguish them.
	Contenders []Contender
}

// Contender has a value in each case of a [Comparison].
type Contender struct {
	// Name identifies the contender in the legend, "least dilation" say; not empty
	// and unique in its chart.
	Name string
	// Values has one for each case; NaN if there is none. In one case at least,
	// one contender has a value.
	Values []float64
}

// What a [Comparison] shows at most: cases, and dots of all of its contenders.
const (
	MaxComparisonCases = 50
	MaxComparisonDots  = 200
)

func (d Comparison) check() error {
	if d.Quantity == "" {
		return errors.New("quantity: is empty; name what the values measure")
	}
	if n := len(d.Cases); n < 1 || n > MaxComparisonCases {
		return fmt.Errorf("cases: there are %d; a chart shows 1 to %d", n, MaxComparisonCases)
	}
	if err := checkNames("cases", "", d.Cases); err != nil {
		return err
	}
	if n := len(d.Contenders); n < 1 || n > len(palette) {
		return fmt.Errorf("contenders: there are %d; a chart shows 1 to %d", n, len(palette))
	}
	if dots := len(d.Cases) * len(d.Contenders); dots > MaxComparisonDots {
		return fmt.Errorf("cases: %d of %d contenders are %d dots, which nobody can tell apart; show at most %d, fewer cases say",
			len(d.Cases), len(d.Contenders), dots, MaxComparisonDots)
	}
	if err := checkNames("contenders", ".name", d.names()); err != nil {
		return err
	}
	for i, contender := range d.Contenders {
		if err := d.checkValues(contender.Values); err != nil {
			return fmt.Errorf("contenders[%d] (%q).values%w", i, contender.Name, err)
		}
	}
	if len(d.known()) == 0 {
		return errors.New("contenders: no value of theirs is known; there is nothing to show")
	}
	return nil
}

func (d Comparison) checkValues(values []float64) error {
	if len(values) != len(d.Cases) {
		return fmt.Errorf(": there are %d values for %d cases", len(values), len(d.Cases))
	}
	for k, value := range values {
		if math.IsNaN(value) {
			continue
		}
		if err := checkNumber(value); err != nil {
			return fmt.Errorf("[%d] (%q): %w", k, d.Cases[k], err)
		}
	}
	return nil
}

// known returns the values that are known.
func (d Comparison) known() []float64 {
	var known []float64
	for _, contender := range d.Contenders {
		known = append(known, knownOf(contender.Values)...)
	}
	return known
}

// size makes room for the legend, and for names that may be turned.
func (d Comparison) size() (width, height vg.Length) {
	const (
		axis, perDot = 80, 7
		plotHeight   = 3.6 * vg.Inch
		widest       = 18 * vg.Inch
	)
	width = min(max(chartWidth, axis+perDot*vg.Length(len(d.Cases)*len(d.Contenders))), widest)
	names := newNameRow(d.Cases, SmallSize, (width-axis-2*margin)/vg.Length(len(d.Cases)))
	height = plotHeight + legendHeight(len(d.Contenders)) + names.height() + 2*margin + titleRoom(d.Title)
	return width, height
}

func (d Comparison) drawInside(c draw.Canvas) {
	c = drawTitle(c, d.Title)
	c = d.legend().draw(c)
	p := d.plot()

	// The names of the cases stand between the axis and its title. Where the
	// first of them is turned, it may need room beside the vertical axis.
	slots := p.DataCanvas(draw.Crop(c, axisTitleHeight, 0, axisTitleHeight, 0))
	names := newNameRow(d.Cases, SmallSize, slots.Size().X/vg.Length(len(d.Cases)))
	inner := draw.Crop(c, max(0, names.overhang()-(slots.Min.X-c.Min.X)), 0, 0, 0)
	slots = p.DataCanvas(draw.Crop(inner, axisTitleHeight, 0, axisTitleHeight, 0))
	names.slot = slots.Size().X / vg.Length(len(d.Cases))

	below := names.height()
	DrawTitled(draw.Crop(inner, 0, 0, below, 0), p, "", axisTitle(d.Quantity, d.Unit))
	names.draw(c, vg.Point{X: slots.Min.X, Y: slots.Min.Y + below})
	title := AlignCenter(Sans(TextSize, Ink))
	Write(c, title, center(slots.Rectangle).X, c.Min.Y+TextSize/2, fit(title, text.Printable(d.CasesAre), slots.Size().X))
}

// legend has the figures of each contender: the value of a single case, or a summary of those of
// many.
func (d Comparison) legend() legend {
	l := legend{swatchWidth: dotSwatchWidth, headers: []legendHeader{{text: "mean"}, {text: "min"}, {text: "max"}}}
	if len(d.Cases) == 1 {
		l.headers = []legendHeader{{text: "value"}}
	}
	figuresEach := len(l.headers)
	missing := len(d.known()) < len(d.Contenders)*len(d.Cases)
	if missing {
		l.headers = append(l.headers, legendHeader{text: "cases"})
	}
	for i, contender := range d.Contenders {
		known := knownOf(contender.Values)
		figures := rangeOf(known, text.Printable(d.Unit))[:figuresEach]
		if missing {
			figures = append(figures, fmt.Sprintf("%d of %d", len(known), len(d.Cases)))
		}
		l.entries = append(l.entries, legendEntry{
			name:    text.Printable(contender.Name),
			figures: figures,
			swatch:  dotSwatch(dotGlyph(i, 3.5)),
		})
	}
	return l
}

// plot sets up the axes and adds the dots. A case takes one unit of the
// horizontal axis, the first from 0 to 1.
func (d Comparison) plot() *plot.Plot {
	p := NewPlot()
	p.X.Min, p.X.Max = 0, float64(len(d.Cases))
	p.X.Tick.Marker = plot.ConstantTicks{}
	p.X.Tick.Length = 0
	p.X.Padding, p.Y.Padding = 0, 0

	low, high := paddedRange(d.known())
	setAxis(&p.Y, low, high, false)
	p.Add(columns{contenders: d.Contenders, cases: len(d.Cases)})
	return p
}
