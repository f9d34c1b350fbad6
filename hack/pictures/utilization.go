package main

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/contention"
)

// drawUtilization draws a pod on a node with a busy CPU and on one with an idle CPU.
func drawUtilization() (*drawing, error) {
	d := newDrawing(236, "A pod that mostly reads, on a node whose CPU is busy and on one whose CPU is idle")
	d.legend(24, 22, [2]string{"at the cpu", paleBlue}, [2]string{"at the disk", paleRed}, [2]string{"waiting for the disk", waiting(red)},
		[2]string{"waiting for the cpu", waiting(blue)})
	for i, node := range []struct {
		title string
		there contention.Vector
		busy  [2]float64
	}{
		{"node 1: a pod that computes all the time", contention.Loadings(1, 0), [2]float64{1, 0}},
		{"node 2: a pod that reads all the time", contention.Loadings(0, 1), [2]float64{0, 1}},
	} {
		dilations, err := exactly(single, reader, node.there)
		if err != nil {
			return nil, err
		}
		left := 24 + 372*float64(i)
		d.text(left, 62, from, node.title, style{bold: true})
		for r, resource := range []string{"cpu", "disk"} {
			y := 74 + 26*float64(r)
			d.text(left, y+14, from, resource, style{size: 12})
			d.rect(left+36, y, 150, 18, ground, "none")
			fill := []string{paleBlue, paleRed}[r]
			d.rect(left+36, y, 150*node.busy[r], 18, fill, "none")
			d.text(left+194, y+14, from, fmt.Sprintf("%.0f %% busy", 100*node.busy[r]), style{size: 12})
		}
		d.text(left, 152, from, fmt.Sprintf("the new pod takes %.1f times as long as alone", dilations[0]), style{size: 12})
		const whole = 150 // of the pod's time alone
		x, y := left+36, 162.0
		for _, part := range []struct {
			time float64
			fill string
		}{
			{reader[0].Loading, paleBlue},
			{reader[0].Loading * node.busy[0], waiting(blue)},
			{reader[1].Loading, paleRed},
			{reader[1].Loading * node.busy[1], waiting(red)},
		} {
			d.rect(x, y, whole*part.time, 34, part.fill, "none")
			x += whole * part.time
		}
		d.rect(left+36, y, x-left-36, 34, "none", faint)
		d.line(left+36+whole, y-6, left+36+whole, y+40, ink, "3 3")
		d.text(left+36+whole, y+54, around, "alone", style{size: 12, color: faint})
	}
	return d, nil
}
