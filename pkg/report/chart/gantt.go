package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"loadline.dev/loadline/pkg/text"
)

// gantt draws the inside of a timeline.
type gantt struct {
	rows  rows
	scale timeScale
}

// Plot draws each schedule's heading, machines and bars.
func (g gantt) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	below := func(lanes vg.Length) vg.Length { return toY(-float64(lanes)) }
	for _, schedule := range g.rows.schedules {
		g.drawHeading(c, schedule, (below(schedule.top)+below(schedule.top+1))/2)
		for _, machine := range schedule.machines {
			Fill(c, Backdrop, c.Min.X, below(machine.top+vg.Length(machine.lanes)), c.Max.X, below(machine.top))
			for _, tick := range g.scale.Ticks(p.X.Min, p.X.Max) {
				c.StrokeLine2(gridStyle, toX(tick.Value), below(machine.top+vg.Length(machine.lanes)), toX(tick.Value), below(machine.top))
			}
			for _, bar := range machine.bars {
				top := machine.top + vg.Length(bar.lane)
				g.drawBar(c, bar, vg.Rectangle{
					Min: vg.Point{X: toX(bar.StartSeconds), Y: below(top + 0.92)},
					Max: vg.Point{X: toX(bar.EndSeconds), Y: below(top + 0.08)},
				})
			}
		}
		end := draw.LineStyle{Color: Ink, Width: 1.2}
		x := toX(schedule.makespanSeconds)
		c.StrokeLine2(end, x, below(schedule.bottom+0.1), x, below(schedule.top+0.9))
	}
}

func (g gantt) drawHeading(c draw.Canvas, schedule scheduleRows, y vg.Length) {
	name, detail := Bold(TextSize, Ink), Sans(TextSize, SoftInk)
	makespan := "makespan " + g.scale.instant(schedule.makespanSeconds)
	room := c.Max.X - c.Min.X - detail.Width(makespan) - 12
	text := fit(name, text.Printable(schedule.name), room)
	Write(c, name, c.Min.X, y, text)
	Write(c, detail, c.Min.X+name.Width(text)+12, y, makespan)
}

// drawBar labels a bar with its job and, where there is room, its times.
func (g gantt) drawBar(c draw.Canvas, bar laneBar, r vg.Rectangle) {
	const (
		inset  = 5
		fewest = 10 // characters that still say which job it is
	)
	hue := palette[bar.color%len(palette)]
	tint := Tint(hue)
	Fill(c, tint, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
	outline(c, r, draw.LineStyle{Color: hue, Width: 0.8})

	label, times := Bold(SmallSize, ReadableOn(tint)), AlignRight(Sans(SmallSize, ReadableOn(tint)))
	room := r.Max.X - r.Min.X - 2*inset
	if r.Max.Y-r.Min.Y < SmallSize {
		return
	}
	job := text.Printable(bar.Job)
	if label.Width(job) > room {
		if job = fit(label, job, room); len([]rune(job)) < fewest {
			return
		}
	}
	y := (r.Min.Y + r.Max.Y) / 2
	Write(c, label, r.Min.X+inset, y, job)
	span := g.scale.instant(bar.StartSeconds) + " – " + g.scale.instant(bar.EndSeconds)
	if label.Width(job)+12+times.Width(span) <= room {
		Write(c, times, r.Max.X-inset, y, span)
	}
}
