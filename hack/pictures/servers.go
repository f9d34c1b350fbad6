package main

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
)

// computing is the loading of the pods of the picture of many cores.
const computing = 0.6

// crowdedCores returns the dilation of so many pods on so many cores.
func crowdedCores(pods, cores int) (float64, error) {
	jobs := slices.Repeat([]contention.Vector{contention.Loadings(computing)}, pods)
	p, err := contention.Predict(jobs, []int{cores}, queueing.Options{})
	if err != nil {
		return 0, err
	}
	return p.Dilations[0], nil
}

// drawServers draws dilations against pods per core.
func drawServers() (*drawing, error) {
	d := newDrawing(360, fmt.Sprintf("Dilation of pods that compute %.0f %% of their time, against pods per core", 100*computing))
	a := &axes{drawing: d, left: 64, top: 60, width: 560, height: 238, x: span{from: 0, to: 4}, y: span{from: 1, to: 2.6}}
	a.frame(
		[]mark{{0, "0"}, {1, "1"}, {2, "2"}, {3, "3"}, {4, "4"}},
		[]mark{{1, "1"}, {1.5, "1.5"}, {2, "2"}, {2.5, "2.5"}},
		"pods per core, each computing 60 % of its time alone", "dilation",
	)
	for _, line := range []struct {
		cores int
		color string
	}{{1, blue}, {2, red}, {4, green}, {16, purple}} {
		var points [][2]float64
		for pods := 1; pods <= 4*line.cores; pods++ {
			dilation, err := crowdedCores(pods, line.cores)
			if err != nil {
				return nil, err
			}
			points = append(points, [2]float64{float64(pods) / float64(line.cores), dilation})
		}
		a.curve(points, line.color)
	}
	for i, entry := range []struct{ name, color string }{{"1 core", blue}, {"2 cores", red}, {"4 cores", green}, {"16 cores", purple}} {
		y := 90 + 24*float64(i)
		d.path([][2]float64{{646, y - 4}, {672, y - 4}}, entry.color)
		d.text(680, y, from, entry.name, style{size: 12})
	}
	return d, nil
}
