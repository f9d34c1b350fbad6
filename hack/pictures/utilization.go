package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/report/chart"
)

// meeting is a node on which the reader meets another pod.
type meeting struct {
	title    string
	there    loading.Vector
	busy     [2]float64
	dilation float64 // of the reader
}

// drawUtilization draws a pod on a node with a busy CPU and on one with an idle CPU.
func drawUtilization() (chart.Chart, error) {
	meetings := []meeting{
		{title: "node 1: a pod that computes all the time", there: loading.Loadings(1, 0), busy: [2]float64{1, 0}},
		{title: "node 2: a pod that reads all the time", there: loading.Loadings(0, 1), busy: [2]float64{0, 1}},
	}
	for i := range meetings {
		dilations, err := exactly(single, reader, meetings[i].there)
		if err != nil {
			return nil, err
		}
		meetings[i].dilation = dilations[0]
	}
	return drawing(190, "A pod that mostly reads, on a node whose CPU is busy and on one whose CPU is idle", func(c canvas) {
		c.legend(key{"at the cpu", pale(blue)}, key{"at the disk", pale(red)}, key{"waiting for the disk", waiting(red)}, key{"waiting for the cpu", waiting(blue)})
		for i := range meetings {
			meetings[i].draw(c, c.Size().X/2*vg.Length(i))
		}
	}), nil
}

func (m *meeting) draw(c canvas, left vg.Length) {
	const indent, whole = 27, 112 // whole is the pod's time alone, and full utilization
	hues := []color.NRGBA{blue, red}
	c.text(left, 29, strong, m.title)
	for r, resource := range []string{"cpu", "disk"} {
		y := 40 + 20*vg.Length(r)
		c.text(left, y+7, small, resource)
		c.rect(left+indent, y, whole, 14, paint{color: chart.Backdrop}, nil)
		c.rect(left+indent, y, whole*vg.Length(m.busy[r]), 14, pale(hues[r]), nil)
		c.text(left+indent+whole+6, y+7, small, fmt.Sprintf("%.0f %% busy", 100*m.busy[r]))
	}
	c.text(left, 95, small, fmt.Sprintf("the new pod takes %.1f times as long as alone", m.dilation))
	x, y := left+indent, vg.Length(106)
	for r, hue := range hues {
		for _, part := range []struct {
			time float64
			fill paint
		}{{reader[r].Loading, pale(hue)}, {reader[r].Loading * m.busy[r], waiting(hue)}} {
			width := whole * vg.Length(part.time)
			c.rect(x, y, width, 26, part.fill, chart.SoftInk)
			x += width
		}
	}
	alone := left + indent + whole
	c.line(alone, y-5, alone, y+31, chart.Ink, 2.5, 2.5)
	c.text(alone, y+39, chart.AlignCenter(faint), "alone")
}
