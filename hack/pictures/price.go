package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/report/chart"
)

// drawPrice draws the choice of the candidate between two nodes.
func drawPrice() (chart.Chart, error) {
	return drawing(222, "A new pod chooses between two nodes by p'·p̄", func(c canvas) {
		const unit = 142 // of a loading of 1
		hues, names := []color.NRGBA{blue, red}, []string{"cpu", "disk"}
		c.text(0, 5, strong, "the new pod, p'")
		for r, name := range names {
			y := 14 + 20*vg.Length(r)
			c.text(0, y+7.5, small, name)
			width := unit * vg.Length(candidate[r].Loading)
			c.rect(27, y, width, 15, pale(hues[r]), hues[r])
			c.text(27+width+6, y+7.5, small, fmt.Sprintf("%.1f", candidate[r].Loading))
		}
		nodes := nodesOfPrice()
		var products [2]float64
		for i := range nodes {
			_, products[i] = totals(nodes[i])
		}
		for i, pods := range nodes {
			left := c.Size().X / 2 * vg.Length(i)
			total, product := totals(pods)
			c.text(left, 78, strong, fmt.Sprintf("node %d: %d pods, added up to p̄", i+1, len(pods)))
			for r, name := range names {
				y := 88 + 22*vg.Length(r)
				c.text(left, y+8, small, name)
				end := c.stack(left+27, y, unit, pods, r, hues[r])
				c.text(end+6, y+8, small, fmt.Sprintf("%.1f", total[r]))
			}
			sum := fmt.Sprintf("p'·p̄ = %.1f · %.1f + %.1f · %.1f = %.2f", candidate[0].Loading, total[0], candidate[1].Loading, total[1], product)
			c.text(left, 146, plain, sum)
			if product == min(products[0], products[1]) {
				c.rect(left, 160, 112, 21, paint{color: green}, nil)
				c.text(left+56, 170.5, chart.AlignCenter(chart.Bold(chart.TextSize, color.White)), "placed here")
			}
		}
	}), nil
}

// stack draws the loadings of pods at a resource side by side and returns where they end.
func (c canvas) stack(x, y, unit vg.Length, pods []loading.Vector, resource int, hue color.NRGBA) vg.Length {
	for _, v := range pods {
		width := unit * vg.Length(v[resource].Loading)
		c.rect(x, y, width, 16, pale(hue), hue)
		x += width
	}
	return x
}
