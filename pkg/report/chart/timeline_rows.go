package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
)

// rows is the layout of a timeline. A lane is as high as one bar, and the unit
// of all heights; positions count from the top.
type rows struct {
	schedules []scheduleRows
	lanes     int
	height    vg.Length
}

type scheduleRows struct {
	name            string
	makespanSeconds float64
	top, bottom     vg.Length // of the heading, of the last machine
	machines        []machineRows
}

type machineRows struct {
	name  string
	top   vg.Length
	lanes int
	bars  []laneBar
}

// laneBar is a bar and its lane on its machine, from 0.
type laneBar struct {
	Bar
	lane  int
	color int // index of the job, the same in all schedules
}

func newRows(schedules []Schedule) rows {
	const heading, machineGap, scheduleGap = 1.0, 0.3, 0.5
	var r rows
	colors := map[string]int{}
	for _, schedule := range schedules {
		s := scheduleRows{name: schedule.Name, makespanSeconds: schedule.MakespanSeconds(), top: r.height}
		r.height += heading
		for _, machine := range stack(schedule.Bars, colors) {
			machine.top = r.height
			r.height += vg.Length(machine.lanes) + machineGap
			r.lanes += machine.lanes
			s.machines = append(s.machines, machine)
		}
		r.height -= machineGap
		s.bottom = r.height
		r.height += scheduleGap
		r.schedules = append(r.schedules, s)
	}
	return r
}

// stack sorts bars by machine and into lanes. Colours are given to jobs in the
// order in which they are first seen.
func stack(bars []Bar, colors map[string]int) []machineRows {
	var machines []machineRows
	place := map[string]int{}
	for _, bar := range bars {
		if _, seen := place[bar.Machine]; !seen {
			place[bar.Machine] = len(machines)
			machines = append(machines, machineRows{name: bar.Machine})
		}
		if _, seen := colors[bar.Job]; !seen {
			colors[bar.Job] = len(colors)
		}
		machine := &machines[place[bar.Machine]]
		machine.bars = append(machine.bars, laneBar{Bar: bar, color: colors[bar.Job]})
	}
	for i := range machines {
		machines[i].assignLanes()
	}
	return machines
}

// assignLanes puts each bar into the first lane that is free when it starts. Taken in the order of
// their starts, the bars need one lane for each job that runs at once, and no more.
func (m *machineRows) assignLanes() {
	slices.SortStableFunc(m.bars, func(a, b laneBar) int { return cmp.Compare(a.StartSeconds, b.StartSeconds) })
	var busyUntil []float64
	for k := range m.bars {
		bar := &m.bars[k]
		bar.lane = slices.IndexFunc(busyUntil, func(end float64) bool { return end <= bar.StartSeconds })
		if bar.lane < 0 {
			bar.lane = len(busyUntil)
			busyUntil = append(busyUntil, 0)
		}
		busyUntil[bar.lane] = bar.EndSeconds
	}
	m.lanes = len(busyUntil)
}
