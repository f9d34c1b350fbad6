package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/report/chart"
)

// curves is a picture of lines between two axes.
type curves struct {
	shows string
	x, y  axis
	lines []line
	dots  bool // at each point, where they are few
	named bool // at their ends, in place of a legend at the upper left
}

type axis struct {
	means string
	ticks plot.ConstantTicks // from the first to the last
	log   bool
}

// ticks returns ticks at values, labelled by a format.
func ticks(format string, values ...float64) plot.ConstantTicks {
	all := make(plot.ConstantTicks, len(values))
	for i, value := range values {
		all[i] = plot.Tick{Value: value, Label: fmt.Sprintf(format, value)}
	}
	return all
}

type line struct {
	name   string
	color  color.NRGBA
	dashed bool
	points plotter.XYs
}

// set sets up an axis of a plot.
func (a axis) set(p *plot.Axis) {
	p.Min, p.Max, p.Tick.Marker = a.ticks[0].Value, a.ticks[len(a.ticks)-1].Value, a.ticks
	if a.log {
		p.Scale = plot.LogScale{}
	}
}

// chart returns the picture.
func (c curves) chart() chart.Chart {
	return chart.Drawing{Label: c.shows, Height: 262, Draw: func(on draw.Canvas) {
		const above, beside, apart = 6, 24, 8 // above and beside is room for the last ticks
		const few = 24                        // points that have a dot each
		p := chart.NewPlot()
		c.x.set(&p.X)
		c.y.set(&p.Y)
		grid := plotter.NewGrid()
		grid.Vertical.Width, grid.Horizontal.Color = 0, chart.GridLine
		p.Add(grid)
		p.Legend.TextStyle, p.Legend.Padding = small, 4
		p.Legend.Top, p.Legend.Left, p.Legend.XOffs, p.Legend.YOffs = true, true, apart, -apart/2
		for _, l := range c.lines {
			drawn := &plotter.Line{XYs: l.points, LineStyle: draw.LineStyle{Color: l.color, Width: 1.5}}
			p.Add(drawn)
			shown := []plot.Thumbnailer{drawn}
			if l.dashed {
				drawn.Width, drawn.Dashes = 0.75, []vg.Length{4.5, 3}
			} else if c.dots && len(l.points) <= few {
				dots := &plotter.Scatter{XYs: l.points, GlyphStyle: draw.GlyphStyle{Color: l.color, Radius: 2.6, Shape: draw.CircleGlyph{}}}
				p.Add(dots)
				shown = append(shown, dots)
			}
			if c.named {
				p.Add(&plotter.Labels{
					XYs: l.points[len(l.points)-1:], Labels: []string{l.name}, Offset: vg.Point{X: apart, Y: -chart.SmallSize / 3},
					TextStyle: []draw.TextStyle{chart.Bold(chart.SmallSize, l.color)},
				})
			} else {
				p.Legend.Add(l.name, shown...)
			}
		}
		chart.DrawTitled(draw.Crop(on, 0, -beside, 0, -above), p, c.x.means, c.y.means)
	}}
}
