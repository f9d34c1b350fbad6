package main

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/contention"
)

// drawPrice draws the choice of the newcomer between two nodes.
func drawPrice() (*drawing, error) {
	d := newDrawing(288, "A new pod chooses between two nodes by p'·p̄")
	fills, outlines := []string{paleBlue, paleRed}, []string{blue, red}
	names := []string{"cpu", "disk"}
	const unit = 190 // of a loading of 1

	d.text(24, 30, from, "the new pod, p'", style{bold: true})
	for r, name := range names {
		y := 40 + 26*float64(r)
		d.text(24, y+14, from, name, style{size: 12})
		d.rect(60, y, unit*newcomer[r].Loading, 20, fills[r], outlines[r])
		d.text(60+unit*newcomer[r].Loading+8, y+14.5, from, fmt.Sprintf("%.1f", newcomer[r].Loading), style{size: 12})
	}

	nodes := nodesOfPrice()
	var products [2]float64
	for i := range nodes {
		_, products[i] = totals(nodes[i])
	}
	for i, pods := range nodes {
		left := 24 + 372*float64(i)
		total, product := totals(pods)
		d.text(left, 130, from, fmt.Sprintf("node %d: %d pods, added up to p̄", i+1, len(pods)), style{bold: true})
		for r, name := range names {
			y := 140 + 30*float64(r)
			d.text(left, y+15, from, name, style{size: 12})
			end := stack(d, left+36, y, unit, pods, r, fills[r], outlines[r])
			d.text(end+8, y+15.5, from, fmt.Sprintf("%.1f", total[r]), style{size: 12})
		}
		sum := fmt.Sprintf("p'·p̄ = %.1f · %.1f + %.1f · %.1f = %.2f", newcomer[0].Loading, total[0], newcomer[1].Loading, total[1], product)
		d.text(left, 228, from, sum, style{})
		if product == min(products[0], products[1]) {
			d.rect(left, 244, 150, 28, green, "none")
			d.text(left+75, 263, around, "placed here", style{bold: true, color: paper})
		}
	}
	return d, nil
}

// stack draws the loadings of pods at a resource side by side and returns where they end.
func stack(d *drawing, x, y, unit float64, pods []contention.Vector, resource int, fill, outline string) float64 {
	for _, v := range pods {
		width := unit * v[resource].Loading
		d.rect(x, y, width, 22, fill, outline)
		x += width
	}
	return x
}
