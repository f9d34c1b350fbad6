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

// Timeline is a chart of schedules, one below the other on a common time axis:
// a row per machine, a bar per job, and a line where the schedule ends (its
// makespan). Jobs that run on a machine at the same time are stacked. A job has
// the same colour in all schedules.
type Timeline struct {
	// Title stands above the chart; may be empty.
	Title string
	// Schedules are drawn from top to bottom; at least one. All schedules
	// together can have 10,000 bars and 200 rows at most.
	Schedules []Schedule
}

// Schedule says which job ran where and when.
type Schedule struct {
	// Name identifies the schedule, "list scheduler" say; not
	// empty.
	Name string
	// Bars in any order; at least one. Machines appear in the order in which
	// they are first named.
	Bars []Bar
}

// Bar is one job on one machine.
type Bar struct {
	// Machine and Job are names, not empty.
	Machine, Job string
	// StartSeconds and EndSeconds are times since the start of the schedule,
	// from 0 to 9,000,000,000 (285 years), the end not before the start.
	StartSeconds, EndSeconds float64
}

const (
	maxTimelineRows    = 200
	maxTimelineBars    = 10_000
	maxTimelineSeconds = 9e9
)

// MakespanSeconds is when the last job ends; 0 without bars.
func (s Schedule) MakespanSeconds() float64 {
	makespan := 0.0
	for _, bar := range s.Bars {
		makespan = math.Max(makespan, bar.EndSeconds)
	}
	return makespan
}

// horizonSeconds is when the last job of all schedules ends.
func (t Timeline) horizonSeconds() float64 {
	horizon := 0.0
	for _, schedule := range t.Schedules {
		horizon = math.Max(horizon, schedule.MakespanSeconds())
	}
	return horizon
}

func (t Timeline) check() error {
	if len(t.Schedules) == 0 {
		return errors.New("schedules: is empty; there is nothing to show")
	}
	bars := 0
	for i, schedule := range t.Schedules {
		bars += len(schedule.Bars)
		if schedule.Name == "" {
			return fmt.Errorf("schedules[%d].name: is empty", i)
		}
		if len(schedule.Bars) == 0 {
			return fmt.Errorf("schedules[%d] (%q).bars: is empty", i, schedule.Name)
		}
		for k, bar := range schedule.Bars {
			if err := bar.check(); err != nil {
				return fmt.Errorf("schedules[%d] (%q).bars[%d]%w", i, schedule.Name, k, err)
			}
		}
	}
	if bars > maxTimelineBars {
		return fmt.Errorf("schedules: have %d bars, which nobody can tell apart; show at most %d, a shorter time say", bars, maxTimelineBars)
	}
	if rows := newRows(t.Schedules).lanes; rows > maxTimelineRows {
		return fmt.Errorf("schedules: need %d rows, which nobody can read; show at most %d, fewer machines say", rows, maxTimelineRows)
	}
	return nil
}

func (b Bar) check() error {
	switch {
	case b.Machine == "":
		return errors.New(".machine: is empty")
	case b.Job == "":
		return errors.New(".job: is empty")
	case !(b.StartSeconds >= 0 && b.StartSeconds <= maxTimelineSeconds):
		return fmt.Errorf(".startSeconds: %v is not between 0 and %v", b.StartSeconds, maxTimelineSeconds)
	case !(b.EndSeconds >= 0 && b.EndSeconds <= maxTimelineSeconds):
		return fmt.Errorf(".endSeconds: %v is not between 0 and %v", b.EndSeconds, maxTimelineSeconds)
	case b.EndSeconds < b.StartSeconds:
		return fmt.Errorf(": job %q on %q ends at %v, before it starts at %v", b.Job, b.Machine, b.EndSeconds, b.StartSeconds)
	}
	return nil
}

// size grows with the number of rows, to at most four pages.
func (t Timeline) size() (width, height vg.Length) {
	const lane, axis, least = 24, 60, 220
	height = newRows(t.Schedules).height*lane + axis + 2*margin + titleRoom(t.Title)
	return chartWidth, min(max(height, least), 28*vg.Inch)
}

func (t Timeline) drawInside(c draw.Canvas) {
	c = drawTitle(c, t.Title)
	rows := newRows(t.Schedules)
	p := NewPlot()

	horizon := t.horizonSeconds()
	scale := scaleFor(horizon)
	p.X.Label.Text = "time (" + scale.unit + ")"
	p.X.Min, p.X.Max = 0, math.Max(horizon*1.02, 1e-3)
	p.X.Tick.Marker = scale

	setRows(p, float64(rows.height), machineTicks(rows))
	p.Add(gantt{rows: rows, scale: scale})
	p.Draw(c)
}

// machineTicks labels the middle of each machine's rows.
func machineTicks(rows rows) plot.ConstantTicks {
	const widest = 120
	style := Sans(SmallSize, Ink)
	var ticks plot.ConstantTicks
	for _, schedule := range rows.schedules {
		for _, machine := range schedule.machines {
			ticks = append(ticks, plot.Tick{
				Value: -float64(machine.top) - float64(machine.lanes)/2,
				Label: fit(style, text.Printable(machine.name), widest) + "  ",
			})
		}
	}
	return ticks
}
