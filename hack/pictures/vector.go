package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/report/chart"
)

// rhythm is how a job that computes and reads by turns might go: the parts of its computing and of its reading in each
// turn. Any rhythm gives the same vector; this one is made up.
var rhythm = []struct{ computing, reading float64 }{
	{0.10, 0.06}, {0.05, 0.13}, {0.16, 0.10}, {0.08, 0.05}, {0.12, 0.17}, {0.19, 0.11}, {0.07, 0.15}, {0.13, 0.09}, {0.10, 0.14},
}

// drawVector draws the time line of filecomp, and the same time gathered by resource.
func drawVector() (chart.Chart, error) {
	return drawing(168, "The time line of filecomp, and the same time gathered by resource", func(c canvas) {
		fills := []paint{pale(blue), pale(red)}
		c.legend(key{"at the cpu", fills[0]}, key{"at the disk", fills[1]})
		width := c.Size().X
		c.text(0, 27, strong, "alone on a node, as it goes")
		x := vg.Length(0)
		for _, turn := range rhythm {
			for i, part := range []float64{turn.computing * fileComp[0].Loading, turn.reading * fileComp[1].Loading} {
				c.rect(x, 38, width*vg.Length(part), 26, fills[i], color.White)
				x += width * vg.Length(part)
			}
		}
		c.text(0, 83, strong, "the same time, gathered: the loading vector")
		x = 0
		for i, name := range []string{"cpu", "disk"} {
			part := width * vg.Length(fileComp[i].Loading)
			c.rect(x, 94, part, 26, fills[i], color.White)
			c.text(x+part/2, 107, chart.AlignCenter(plain), fmt.Sprintf("%s %.2f", name, fileComp[i].Loading))
			x += part
		}
		c.text(0, 130, faint, "0")
		c.text(width, 130, chart.AlignRight(faint), fmt.Sprintf("%.2f s, the neutral time", fileCompSeconds))
	}), nil
}
