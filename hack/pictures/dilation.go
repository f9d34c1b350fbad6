package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/report/chart"
)

// drawDilation draws how long filecomp takes alone, and beside std-io.
func drawDilation() (chart.Chart, error) {
	dilations, err := exactly(single, fileComp, stdIO)
	if err != nil {
		return nil, err
	}
	return drawing(174, "filecomp alone, and beside std-io, where it waits for the disk", func(c canvas) {
		c.legend(key{"at the cpu", pale(blue)}, key{"at the disk", pale(red)}, key{"waiting for the disk", waiting(red)})
		const second, high = 4.2, 26
		computing, reading := fileComp[0].Loading*fileCompSeconds, fileComp[1].Loading*fileCompSeconds
		for i, run := range []struct {
			title   string
			waiting float64
		}{
			{fmt.Sprintf("filecomp alone: %.1f s", fileCompSeconds), 0},
			{fmt.Sprintf("filecomp beside std-io: %.1f s, dilated by %.2f", dilations[0]*fileCompSeconds, dilations[0]), (dilations[0] - 1) * fileCompSeconds},
		} {
			y := 27 + 51*vg.Length(i)
			c.text(0, y, strong, run.title)
			x := vg.Length(0)
			for _, part := range []struct {
				seconds float64
				fill    paint
			}{{computing, pale(blue)}, {reading, pale(red)}, {run.waiting, waiting(red)}} {
				if part.seconds == 0 {
					continue
				}
				width := second * vg.Length(part.seconds)
				c.rect(x, y+10, width, high, part.fill, chart.SoftInk)
				if part.fill.waiting { // on a clean ground
					c.rect(x+width/2-18, y+10+high/2-7, 36, 14, paint{color: color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: 0xFF}}, nil)
				}
				c.text(x+width/2, y+10+high/2, chart.AlignCenter(plain), fmt.Sprintf("%.1f s", part.seconds))
				x += width
			}
		}
		c.seconds(0, 119, second)
	}), nil
}
