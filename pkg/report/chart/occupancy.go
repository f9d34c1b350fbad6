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

// Occupancy is a chart of the utilization of machines over time: a strip per machine, darker where
// more was going on, with a colour bar beside it. Unlike a [Timeline] it shows no single jobs, so
// the number of jobs does not matter.
type Occupancy struct {
	// Title stands above the chart; may be empty.
	Title string
	// Quantity names the quantity of the values, "cpu utilization" or "jobs" say; it labels the
	// colour bar. Not empty.
	Quantity string
	// Unit of the values, such as "%"; empty if they have none.
	Unit string
	// BinSeconds is the time that one value stands for, above 0. All bins
	// together end at 9,000,000,000 seconds (285 years) at most.
	BinSeconds float64
	// Strips are drawn from top to bottom; 1 to 200 of them.
	Strips []Strip
	// Full is a value that the colours reach at least, which gives charts of
	// different policies the same colours: 100 for percents, say. 0 means the
	// largest value in the chart.
	Full float64
}

// Strip is the activity of one machine.
type Strip struct {
	// Machine is a name, not empty and unique in its chart.
	Machine string
	// Values has one for each bin of time, 1 to 1000 and the same number for each machine, from
	// time 0 on; at least 0, or NaN if it is not known. At least one value of the chart is known.
	Values []float64
}

const (
	maxStrips = 200
	maxBins   = 1000
)

func (o Occupancy) check() error {
	switch {
	case o.Quantity == "":
		return errors.New("quantity: is empty; name what the values measure")
	case len(o.Strips) == 0:
		return errors.New("strips: is empty; there is nothing to show")
	case len(o.Strips) > maxStrips:
		return fmt.Errorf("strips: there are %d, which nobody can tell apart; show at most %d, of groups of machines say", len(o.Strips), maxStrips)
	case !(o.Full >= 0 && o.Full <= maxMagnitude):
		return fmt.Errorf("full: %v is not between 0 and %v", o.Full, maxMagnitude)
	}
	if err := checkNames("strips", ".machine", o.names()); err != nil {
		return err
	}
	bins := len(o.Strips[0].Values)
	if bins < 1 || bins > maxBins {
		return fmt.Errorf("strips[0] (%q).values: there are %d; a chart shows 1 to %d bins of time", o.Strips[0].Machine, bins, maxBins)
	}
	if end := o.BinSeconds * float64(bins); !(o.BinSeconds > 0 && end <= maxTimelineSeconds) {
		return fmt.Errorf("binSeconds: %v is not above 0 and at most %v, for %d bins to end by %v", o.BinSeconds, maxTimelineSeconds/float64(bins), bins, maxTimelineSeconds)
	}
	for i, strip := range o.Strips {
		if err := strip.check(bins); err != nil {
			return fmt.Errorf("strips[%d] (%q).values%w", i, strip.Machine, err)
		}
	}
	if known, _ := o.known(); len(known) == 0 {
		return errors.New("strips: none of their values is known; there is nothing to show")
	}
	return nil
}

func (s Strip) check(bins int) error {
	if len(s.Values) != bins {
		return fmt.Errorf(": there are %d, but %d of the first strip", len(s.Values), bins)
	}
	for k, value := range s.Values {
		if !math.IsNaN(value) && !(value >= 0 && value <= maxMagnitude) {
			return fmt.Errorf("[%d]: %v is not between 0 and %v", k, value, maxMagnitude)
		}
	}
	return nil
}

// known returns the values that are known, and how many there are in all.
func (o Occupancy) known() (known []float64, all int) {
	for _, strip := range o.Strips {
		known = append(known, knownOf(strip.Values)...)
		all += len(strip.Values)
	}
	return known, all
}

func (o Occupancy) bar() colorBar {
	known, all := o.known()
	colors := newColorScale(append(known, 0, o.Full))
	if colors.high == 0 || colors.low < 0 { // nothing was going on
		colors.low, colors.high = 0, 1
	}
	return newColorBar(colors, o.Quantity, o.Unit, len(known) == all, o.stripHeight()*vg.Length(len(o.Strips)))
}

// stripHeight is smaller for many machines than for few.
func (o Occupancy) stripHeight() vg.Length {
	const least, most, comfortable = 5, 22, 640
	return vg.Length(min(max(comfortable/float64(len(o.Strips)), least), most))
}

// size grows with the number of machines, from about 3 to 15 inches.
func (o Occupancy) size() (width, height vg.Length) {
	const axis = 40
	height = max(o.stripHeight()*vg.Length(len(o.Strips))+axis, o.bar().height()+TextSize) + 2*margin + titleRoom(o.Title)
	return chartWidth, height
}

func (o Occupancy) drawInside(c draw.Canvas) {
	const above = TextSize / 2 // half the topmost tick of the colour bar
	c = drawTitle(c, o.Title)
	c = draw.Crop(c, 0, 0, 0, -above)
	bar := o.bar()
	bar.draw(draw.Crop(c, c.Size().X-bar.width(), 0, 0, 0))

	p := NewPlot()
	horizon := o.BinSeconds * float64(len(o.Strips[0].Values))
	scale := scaleFor(horizon)
	p.X.Min, p.X.Max = 0, horizon
	p.X.Tick.Marker = scale
	setRows(p, float64(len(o.Strips)), o.nameTicks())
	p.Add(strips{chart: o, colors: bar.colors})

	// Beside a colour bar that is longer than the strips are high, these keep
	// to the top.
	used := o.stripHeight()*vg.Length(len(o.Strips)) + axisHeight(p) + axisTitleHeight
	c = draw.Crop(c, -axisTitleHeight, -bar.width()-barGap, max(0, c.Size().Y-used), 0)
	DrawTitled(c, p, "time ("+scale.unit+")", "")
}

// axisHeight is that of the horizontal axis and its labels.
func axisHeight(p *plot.Plot) vg.Length {
	size := vg.Point{X: 1000, Y: 1000}
	return p.DataCanvas(draw.Canvas{Rectangle: vg.Rectangle{Max: size}}).Min.Y
}

// nameTicks labels the middle of the strips, of all for which there is room.
func (o Occupancy) nameTicks() plot.ConstantTicks {
	const widest, least = 120, SmallSize * 1.15
	style := Sans(SmallSize, Ink)
	every := int(math.Ceil(float64(least / o.stripHeight())))
	var names plot.ConstantTicks
	for i := 0; i < len(o.Strips); i += every {
		names = append(names, plot.Tick{
			Value: -float64(i) - 0.5,
			Label: fitMiddle(style, text.Printable(o.Strips[i].Machine), widest) + "  ",
		})
	}
	return names
}
