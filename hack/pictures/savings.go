package main

import (
	"fmt"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/evaluate/savings"
	"loadline.dev/loadline/pkg/report/chart"
)

// panel is the part of the map of savings for one unlikeness.
type panel struct {
	canvas
	of         *savings.Map
	unlikeness float64
	left, top  vg.Length
	cell       vg.Length // width
	most       float64   // that is saved anywhere
}

const (
	panelRow   = 18 // height
	panelTitle = 16
	panelAxis  = 30 // below the rows
)

// drawSavings draws how much excess dilation Loadline saves: a panel for each unlikeness, with a column for each load and a row for each
// number of pods per core.
func drawSavings() (chart.Chart, error) {
	m, err := savings.Made()
	if err != nil {
		return nil, err
	}
	const margins, left, apart = 32, 40, 14
	height := margins + panelTitle + panelRow*vg.Length(len(m.PodsPerCore())) + panelAxis
	return drawing(height, "The excess dilation that Loadline saves, by load, pods per core and how unlike the pods are", func(c canvas) {
		panels := vg.Length(len(m.Unlikenesses()))
		width := (c.Size().X - left - apart*(panels-1)) / panels
		for i, unlikeness := range m.Unlikenesses() {
			p := panel{
				canvas: c, of: m, unlikeness: unlikeness, left: left + (width+apart)*vg.Length(i), top: panelTitle,
				cell: width / vg.Length(len(m.Loads())), most: mostSaved(m),
			}
			p.draw()
		}
		for row, pods := range m.PodsPerCore() {
			c.text(left-6, panelTitle+panelRow*(vg.Length(row)+0.5), chart.AlignRight(small), fmt.Sprintf("%g", pods))
		}
		for line, words := range []string{"pods", "a core"} {
			c.text(left-6, panelTitle/2-8+11*vg.Length(line), chart.AlignRight(faint), words)
		}
	}), nil
}

// saved returns how much excess dilation is saved at a point of the map.
func saved(m *savings.Map, at savings.Point) float64 {
	r := m.Row(at)
	return r.KubeScheduler - r.Loadline
}

// mostSaved returns how much is saved where that is most.
func mostSaved(m *savings.Map) (most float64) {
	for _, unlikeness := range m.Unlikenesses() {
		for _, pods := range m.PodsPerCore() {
			for _, load := range m.Loads() {
				most = max(most, saved(m, savings.Point{Load: load, PodsPerCore: pods, Unlikeness: unlikeness}))
			}
		}
	}
	return most
}

// draw draws the cells with their values, pale where there is little to save, and what the columns are.
func (p *panel) draw() {
	width := p.cell * vg.Length(len(p.of.Loads()))
	p.text(p.left+width/2, panelTitle/2-2, chart.AlignCenter(strong), fmt.Sprintf("unlikeness %g", p.unlikeness))
	below := p.top + panelRow*vg.Length(len(p.of.PodsPerCore()))
	for column, load := range p.of.Loads() {
		x := p.left + p.cell*vg.Length(column)
		for row, pods := range p.of.PodsPerCore() {
			value := saved(p.of, savings.Point{Load: load, PodsPerCore: pods, Unlikeness: p.unlikeness})
			ground, ink := chart.Backdrop, chart.SoftInk
			if value >= savings.Little {
				ground = chart.Heat(value / p.most)
				ink = chart.ReadableOn(ground)
			}
			y := p.top + panelRow*vg.Length(row)
			const line = 0.4 // stays white between cells
			p.rect(x+line, y+line, p.cell-2*line, panelRow-2*line, paint{color: ground}, nil)
			p.text(x+p.cell/2, y+panelRow/2, chart.AlignCenter(chart.Sans(chart.SmallSize-1, ink)), fmt.Sprintf("%.2f", max(0, value)))
		}
		p.text(x+p.cell/2, below+8, chart.AlignCenter(faint), fmt.Sprintf("%.0f", 100*load))
	}
	p.text(p.left+width/2, below+21, chart.AlignCenter(small), "load, %")
}
