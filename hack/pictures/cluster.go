package main

import (
	"image/color"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/report/chart"
)

// program is what Loadline runs in a cluster, by the manifest of the object that runs it.
type program struct {
	manifest              string // a file below config
	kind, namespace, name string
	does                  []string // lines
}

var (
	theScheduler = program{
		"scheduler/deployment.yaml", "Deployment", "loadline-system", "loadline-scheduler",
		[]string{"places pods, keeps bounds"},
	}
	theManager = program{
		"manager/deployment.yaml", "Deployment", "loadline-system", "loadline-manager",
		[]string{"statuses, measurements,", "pools, replays"},
	}
	theGauge = program{
		"gauge/daemonset.yaml", "DaemonSet", "loadline-gauge", "loadline-gauge",
		[]string{"observes pods every 10 s"},
	}
)

// white is the paint of a box on a backdrop.
var white = paint{color: color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}}

// drawCluster draws what runs where in a cluster, and what asks what.
func drawCluster() (chart.Chart, error) {
	return drawing(334, "What Loadline runs where in a cluster, with arrows to what each part asks", func(c canvas) {
		const (
			width  = 140 // of a box
			high   = 58
			gap    = 12
			row    = 66 // where the programs begin
			onNode = 196
		)
		right := c.Size().X
		left := [3]vg.Length{gap, right/2 - width/2, right - width - gap}

		c.part(left[0], 0, width, 34, chart.SoftInk, "kubectl loadline", "asks, changes nothing")
		c.part(left[1], 0, right-left[1]-gap, 34, chart.SoftInk, "API server", "Loadline's resources and admission policies")
		c.arrow(left[0]+width, 17, left[1], 17, chart.SoftInk)

		c.program(left[1], row, width, high, &theScheduler)
		c.program(left[2], row, width, high, &theManager)
		c.part(left[0], row, width, high, chart.SoftInk, "Prometheus", "reads the metrics of all three,", "if you have one")
		c.arrow(left[1]+width/2, row, left[1]+width/2, 34, chart.SoftInk)
		c.arrow(left[2]+width/2, row, left[2]+width/2, 34, chart.SoftInk)

		// Every node, with what runs on it.
		c.rect(0, onNode-36, right, 152, paint{color: chart.Backdrop}, chart.SoftInk)
		c.text(gap, onNode-22, strong, "every node")
		c.part(left[0], onNode, width, high, chart.SoftInk, "your pods", "placed by the scheduler")
		c.part(left[1], onNode, width, high, red, "loadline-probe", "Jobs, only while something", "is measured here")
		c.program(left[2], onNode, width, high, &theGauge)
		c.part(left[0], onNode+high+gap+6, right-2*gap, 24, chart.SoftInk, "kernel: /proc and control groups")
		c.arrow(left[2]+width/2, row+high, left[2]+width/2, onNode, chart.SoftInk)
		c.text(left[2]+width/2-6, onNode-22, chart.AlignRight(small), "asked every 30 s")
		c.arrow(left[2]+width/2, onNode+high, left[2]+width/2, onNode+high+gap+6, chart.SoftInk)
	}), nil
}

// program draws what runs a program, with its kind and namespace.
func (c canvas) program(x, y, width, height vg.Length, p *program) {
	c.part(x, y, width, height, blue, p.name, append([]string{p.kind + " in " + p.namespace}, p.does...)...)
}

// part draws a box with a name and lines below it.
func (c canvas) part(x, y, width, height vg.Length, hue color.NRGBA, name string, lines ...string) {
	c.rect(x, y, width, height, white, hue)
	const between = 12
	top := y + height/2 - between*vg.Length(len(lines))/2
	c.text(x+width/2, top, chart.AlignCenter(strong), name)
	for i, line := range lines {
		c.text(x+width/2, top+between*vg.Length(i+1), chart.AlignCenter(faint), line)
	}
}
