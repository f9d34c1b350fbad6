package main

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/report/chart"
)

// computing is the loading of the pods of the picture of many cores.
const computing = 0.6

// crowdedCores returns the dilation of a number of pods on a number of cores.
func crowdedCores(pods, cores int) (float64, error) {
	jobs := slices.Repeat([]loading.Vector{loading.Loadings(computing)}, pods)
	p, err := contention.Predict(jobs, []int{cores}, queueing.Options{})
	if err != nil {
		return 0, err
	}
	return p.Dilations[0], nil
}

// drawServers draws dilations against pods per core.
func drawServers() (chart.Chart, error) {
	c := curves{
		shows: fmt.Sprintf("Dilation of pods that compute %.0f %% of their time, against pods per core", 100*computing), dots: true,
		x: axis{means: "pods per core, each computing 60 % of its time alone", ticks: ticks("%g", 0, 1, 2, 3, 4)},
		y: axis{means: "dilation", ticks: ticks("%g", 1, 1.5, 2, 2.5)},
	}
	for _, l := range []struct {
		cores int
		line
	}{{1, line{name: "1 core", color: blue}}, {2, line{name: "2 cores", color: red}}, {4, line{name: "4 cores", color: green}}, {16, line{name: "16 cores", color: purple}}} {
		for pods := 1; pods <= 4*l.cores; pods++ {
			dilation, err := crowdedCores(pods, l.cores)
			if err != nil {
				return nil, err
			}
			l.points = append(l.points, plotter.XY{X: float64(pods) / float64(l.cores), Y: dilation})
		}
		c.lines = append(c.lines, l.line)
	}
	return c.chart(), nil
}
