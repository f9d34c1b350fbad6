package chart

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// curve is one sample in the form in which it is drawn.
type curve struct {
	name    string
	steps   steps
	summary Summary
	line    draw.LineStyle
}

// newCurve takes a sample that was checked.
func newCurve(i int, sample Sample) curve {
	sorted := slices.Sorted(slices.Values(sample.Values))
	all := stepsOf(sample, sorted)
	return curve{
		name:    text.Printable(sample.Name),
		steps:   all,
		summary: sample.summarize(all, sorted),
		line:    seriesLine(i),
	}
}

// Plot draws the steps of the distribution function, except those that are too
// small to be seen: a million values would make a drawing of a million steps.
func (c curve) Plot(canvas draw.Canvas, p *plot.Plot) {
	const visible = 0.2 // points
	toX, toY := p.Transforms(&canvas)
	last := vg.Point{X: toX(c.steps.least()), Y: toY(0)}
	path := []vg.Point{last}
	for i, step := range c.steps {
		next := vg.Point{X: toX(step.Value), Y: toY(step.Fraction)}
		if i < len(c.steps)-1 && next.X-last.X < visible && next.Y-last.Y < visible {
			continue
		}
		path = append(path, vg.Point{X: next.X, Y: last.Y}, next)
		last = next
	}
	canvas.StrokeLines(c.line, path)
}

// marks draws the mean and the 95th percentile of a curve on top of all curves.
type marks struct{ curve }

func (m marks) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	mark := func(glyph draw.GlyphStyle, x, fraction float64) {
		drawPin(canvas, glyph, vg.Point{X: toX(x), Y: toY(fraction)}, toY(0))
	}
	mark(meanGlyph(m.line), m.summary.Mean, m.steps.atOrBelow(m.summary.Mean))
	mark(p95Glyph(m.line), m.summary.P95, 0.95) // on the step that passes 95%
}

func meanGlyph(line draw.LineStyle) draw.GlyphStyle {
	return disc(line.Color, 3.2)
}

func p95Glyph(line draw.LineStyle) draw.GlyphStyle {
	return draw.GlyphStyle{Color: line.Color, Radius: 3.6, Shape: draw.PyramidGlyph{}}
}
