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

// Intervals is a chart of estimates with their confidence intervals, one below
// the other, and of a line at zero: by how much each policy improves on round
// robin, say. The dot of an estimate is filled if its interval leaves out zero,
// and hollow if zero, no difference that is, is not ruled out.
type Intervals struct {
	// Title stands above the chart; may be empty.
	Title string
	// Quantity names the estimated quantity, "improvement" say; it labels the horizontal axis. Not
	// empty.
	Quantity string
	// Unit of the values, such as "%" or "s"; empty if they have none.
	Unit string
	// Zero is the meaning of a value of zero, such as "as round robin"; it is written above the
	// line. Empty means "0".
	Zero string
	// Confidence is the probability that an interval holds the true value,
	// 0.95 say; between 0 and 1.
	Confidence float64
	// Estimates are drawn from top to bottom; 1 to 60 of them.
	Estimates []Estimate
}

// Estimate is a value with its confidence interval.
type Estimate struct {
	// Name stands beside the estimate, "least dilation" say; not empty and
	// unique in its chart.
	Name string
	// Value lies in the interval from Low to High; all three are finite. Low
	// and High are both NaN if no interval is known, as after a single run.
	Value, Low, High float64
}

const maxEstimates = 60

func (d Intervals) check() error {
	if d.Quantity == "" {
		return errors.New("quantity: is empty; name what was estimated")
	}
	if !(d.Confidence > 0 && d.Confidence < 1) {
		return fmt.Errorf("confidence: %v is not between 0 and 1", d.Confidence)
	}
	if n := len(d.Estimates); n < 1 || n > maxEstimates {
		return fmt.Errorf("estimates: there are %d; a chart shows 1 to %d", n, maxEstimates)
	}
	if err := checkNames("estimates", ".name", d.names()); err != nil {
		return err
	}
	for i, estimate := range d.Estimates {
		if err := estimate.check(); err != nil {
			return fmt.Errorf("estimates[%d] (%q).%w", i, estimate.Name, err)
		}
	}
	return nil
}

func (e Estimate) check() error {
	if err := checkNumber(e.Value); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	if !e.hasInterval() {
		return nil
	}
	if err := checkNumber(e.Low); err != nil {
		return fmt.Errorf("low: %w", err)
	}
	if err := checkNumber(e.High); err != nil {
		return fmt.Errorf("high: %w", err)
	}
	if e.Value < e.Low || e.Value > e.High {
		return fmt.Errorf("value: %v is not in its interval, from %v to %v", e.Value, e.Low, e.High)
	}
	return nil
}

func (e Estimate) hasInterval() bool { return !math.IsNaN(e.Low) || !math.IsNaN(e.High) }

// rulesOutZero reports whether zero lies outside the interval.
func (e Estimate) rulesOutZero() bool { return e.Low > 0 || e.High < 0 }

// size grows with the number of estimates.
func (d Intervals) size() (width, height vg.Length) {
	const row = 22
	height = row*vg.Length(len(d.Estimates)) + 2*legendRow + 2*axisTitleHeight + SmallSize + 2*margin + titleRoom(d.Title)
	return chartWidth, height
}

func (d Intervals) drawInside(c draw.Canvas) {
	c = drawTitle(c, d.Title)
	c = drawKey(c)
	p := d.plot()
	figures := d.figures()
	beside := vg.Length(0)
	for _, figure := range figures {
		beside = max(beside, Sans(SmallSize, Ink).Width(figure))
	}
	p.Add(whiskers{chart: d, figures: figures})
	title := axisTitle(d.Quantity, d.Unit) + ", " + text.Compact(100*d.Confidence) + "% confidence interval"
	DrawTitled(draw.Crop(c, -axisTitleHeight, -beside-2*whiskerGap, 0, -legendRow), p, title, "")
}

// figures are the texts of the estimates and intervals, all with the number of decimals that gives
// the largest number three digits.
func (d Intervals) figures() []string {
	const widest = 200
	unit := text.Printable(d.Unit)
	largest := 0.0
	for _, x := range d.known() {
		largest = math.Max(largest, math.Abs(x))
	}
	decimals := 0
	if largest > 0 {
		decimals = min(max(2-int(math.Floor(math.Log10(largest))), 0), 6)
	}
	figures := make([]string, len(d.Estimates))
	for i, e := range d.Estimates {
		figure := signed(e.Value, decimals) + unit
		if e.hasInterval() {
			figure += " (" + signed(e.Low, decimals) + " to " + signed(e.High, decimals) + ")"
		}
		figures[i] = fit(Sans(SmallSize, Ink), figure, widest)
	}
	return figures
}

// signed writes a number with its sign, above zero too.
func signed(x float64, decimals int) string {
	number := tickLabel(x, decimals)
	if x > 0 && number != text.Decimal(0, decimals) {
		return "+" + number
	}
	return number
}

// known returns all values and all ends of intervals that are known.
func (d Intervals) known() []float64 {
	var all []float64
	for _, e := range d.Estimates {
		all = append(all, knownOf([]float64{e.Value, e.Low, e.High})...)
	}
	return all
}

// plot sets up the axes.
func (d Intervals) plot() *plot.Plot {
	p := NewPlot()
	low, high := paddedRange(append(d.known(), 0))
	setAxis(&p.X, low, high, false)

	var names plot.ConstantTicks
	style := Sans(SmallSize, Ink)
	for i, e := range d.Estimates {
		names = append(names, plot.Tick{Value: -float64(i) - 0.5, Label: fitMiddle(style, text.Printable(e.Name), widestName) + "  "})
	}
	setRows(p, float64(len(d.Estimates)), names)
	return p
}
