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

// Staircase is a chart of the whole units that a rising quantity needs, such as the servers for an
// arrival rate: a line of steps for each contender, with a dot at its present value. The legend
// gives the distance to the next step.
type Staircase struct {
	// Title stands above the chart; may be empty.
	Title string
	// Quantity names the rising quantity, "arrival rate" say; it labels the horizontal axis. Not
	// empty.
	Quantity string
	// Unit of the quantity, such as "/s"; empty if it has none.
	Unit string
	// Takes names the needed units, "servers" say; it labels the vertical axis. Not empty.
	Takes string
	// From and To are where the horizontal axis begins and ends; From is below To,
	// by a millionth of either at least.
	From, To float64
	// Stairs are drawn in this order; 1 to 10 of them, so that a reader can distinguish them.
	Stairs []Stair
	// Log draws both axes to a logarithmic scale; From and all values must then be
	// above 0, from 1e-290 up.
	Log bool
}

// Stair is a line of a [Staircase].
type Stair struct {
	// Name identifies the line in the legend, "checkout" say; not empty and unique in
	// its chart.
	Name string
	// Steps from left to right, at least one; the first begins where the axis
	// does, and a step ends where the next begins, the last one with the axis.
	// There are 12,000 at most in all lines together.
	Steps []Step
	// Now is marked on the line; NaN if it is not known, or there is no now.
	Now float64
}

// Step is a part of a [Stair] in which as much is needed.
type Step struct {
	// From is where the step begins.
	From float64
	// Needs is how much it needs, at least 0.
	Needs float64
}

const maxSteps = 12_000

func (s Staircase) check() error {
	switch {
	case s.Quantity == "":
		return errors.New("quantity: is empty; name what rises")
	case s.Takes == "":
		return errors.New("takes: is empty; name what is needed")
	case !isSpan(s.From, s.To):
		return fmt.Errorf("from, to: %v and %v are no ends of an axis; give finite numbers, the first clearly below the second", s.From, s.To)
	case s.Log && s.From < 1/maxMagnitude:
		return fmt.Errorf("from: %v: a logarithmic axis shows values from %g up", s.From, 1/maxMagnitude)
	case len(s.Stairs) < 1 || len(s.Stairs) > len(palette):
		return fmt.Errorf("stairs: there are %d; a chart shows 1 to %d", len(s.Stairs), len(palette))
	}
	if err := checkNames("stairs", ".name", s.names()); err != nil {
		return err
	}
	steps := 0
	for _, stair := range s.Stairs {
		steps += len(stair.Steps)
	}
	if steps > maxSteps {
		return fmt.Errorf("stairs: have %d steps, which nobody can tell apart; show at most %d", steps, maxSteps)
	}
	for i, stair := range s.Stairs {
		if err := s.checkStair(stair); err != nil {
			return fmt.Errorf("stairs[%d] (%q).%w", i, stair.Name, err)
		}
	}
	return nil
}

func (s Staircase) checkStair(stair Stair) error {
	if len(stair.Steps) == 0 {
		return errors.New("steps: is empty; there is nothing to show")
	}
	if first := stair.Steps[0].From; first != s.From {
		return fmt.Errorf("steps[0].from: %v is not where the axis begins, %v", first, s.From)
	}
	for k, step := range stair.Steps {
		if k > 0 && !(step.From > stair.Steps[k-1].From && step.From <= s.To) {
			return fmt.Errorf("steps[%d].from: %v is not above %v, where the one before begins, and at most %v, where the axis ends",
				k, step.From, stair.Steps[k-1].From, s.To)
		}
		if !(step.Needs >= 0 && step.Needs <= maxMagnitude) || s.Log && step.Needs < 1/maxMagnitude {
			least := "0"
			if s.Log {
				least = fmt.Sprint(1 / maxMagnitude)
			}
			return fmt.Errorf("steps[%d].needs: %v is not between %s and %v", k, step.Needs, least, maxMagnitude)
		}
	}
	return nil
}

// now returns the step that the stair is at now; false if there is none in the
// chart.
func (s Staircase) now(stair Stair) (at int, ok bool) {
	if !(stair.Now >= s.From && stair.Now <= s.To) {
		return 0, false
	}
	for at < len(stair.Steps)-1 && stair.Steps[at+1].From <= stair.Now {
		at++
	}
	return at, true
}

// size is 8 by 5 inches for two stairs; a longer legend takes no room from the
// lines.
func (s Staircase) size() (width, height vg.Length) {
	return chartWidth, 5*vg.Inch + legendRow*vg.Length(max(0, len(s.Stairs)-2))
}

func (s Staircase) drawInside(c draw.Canvas) {
	c = drawTitle(c, s.Title)
	c = s.legend().draw(c)
	DrawTitled(c, s.plot(), axisTitle(s.Quantity, s.Unit), text.Printable(s.Takes))
}

// legend gives for each line its present position, its need there, and the position from which that
// no longer suffices.
func (s Staircase) legend() legend {
	l := legend{swatchWidth: lineSwatchWidth, headers: []legendHeader{
		{text: "now", glyph: meanGlyph(draw.LineStyle{Color: SoftInk})}, {text: text.Printable(s.Takes)}, {text: "enough up to"},
	}}
	unit := text.Printable(s.Unit)
	for i, stair := range s.Stairs {
		figures := []string{text.Absent, text.Absent, text.Absent}
		if at, ok := s.now(stair); ok {
			now, limit := text.Value(stair.Now)+unit, "beyond the chart"
			if at < len(stair.Steps)-1 {
				now, limit = text.Apart(stair.Now, stair.Steps[at+1].From)
				now, limit = now+unit, limit+unit
			}
			figures = []string{now, text.Amount(stair.Steps[at].Needs), limit}
		}
		l.entries = append(l.entries, legendEntry{
			name:    text.Printable(stair.Name),
			figures: figures,
			swatch:  lineSwatch(seriesLine(i)),
		})
	}
	return l
}

// plot sets up the axes and adds the lines.
func (s Staircase) plot() *plot.Plot {
	low, high := math.Inf(1), math.Inf(-1)
	for _, stair := range s.Stairs {
		for _, step := range stair.Steps {
			low, high = min(low, step.Needs), max(high, step.Needs)
		}
	}
	low, high = padded(low, high, s.Log)
	if !s.Log { // from zero, so that twice the height is twice the number
		low, high = 0, max(high, 1)
	}
	p := NewPlot()
	setAxis(&p.X, s.From, s.To, s.Log)
	setAxis(&p.Y, low, high, s.Log)
	p.Add(newGrid())
	for i, stair := range s.Stairs {
		p.Add(stairway{stair: stair, to: s.To, line: seriesLine(i)})
	}
	for i, stair := range s.Stairs {
		if at, ok := s.now(stair); ok {
			p.Add(present{x: stair.Now, y: stair.Steps[at].Needs, line: seriesLine(i)})
		}
	}
	return p
}

// stairway draws a line of steps.
type stairway struct {
	stair Stair
	to    float64
	line  draw.LineStyle
}

// Plot draws each step as far as the next.
func (s stairway) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	var path []vg.Point
	for k, step := range s.stair.Steps {
		end := s.to
		if k < len(s.stair.Steps)-1 {
			end = s.stair.Steps[k+1].From
		}
		path = append(path, vg.Point{X: toX(step.From), Y: toY(step.Needs)}, vg.Point{X: toX(end), Y: toY(step.Needs)})
	}
	c.StrokeLines(s.line, path)
}

// present marks where a line is now, with a thread down to the axis.
type present struct {
	x, y float64
	line draw.LineStyle
}

// Plot draws the mark on top of all lines.
func (m present) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	drawPin(c, meanGlyph(m.line), vg.Point{X: toX(m.x), Y: toY(m.y)}, c.Min.Y)
}
