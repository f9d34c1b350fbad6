package main

import (
	"gonum.org/v1/plot/plotter"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/report/chart"
)

// requesting returns the dilations of two pods that share a core, given the ratio of their weights and that of how long
// each computes at a time.
func requesting(first, second loading.Vector, weight, burst float64) (heavy, light float64, err error) {
	shares := []loading.Share{{Weight: weight, Burst: burst}, {Weight: 1, Burst: 1}}
	return sharing(first, second, shares)
}

// sharing returns the dilations of two pods that share a core.
func sharing(first, second loading.Vector, shares []loading.Share) (one, two float64, err error) {
	p, err := contention.PredictSharing([]loading.Vector{first, second}, []int{1}, contention.Sharing{Shares: shares}, queueing.Options{})
	if err != nil {
		return 0, 0, err
	}
	return p.Dilations[0], p.Dilations[1], nil
}

// drawRequests draws dilations against the ratio of requests.
func drawRequests() (chart.Chart, error) {
	heavy, light := line{name: "the pod that requests more", color: blue}, line{name: "the pod that requests less", color: red}
	equal := line{name: "requests taken to be equal", color: green, dashed: true}
	pod := loading.Loadings(computing)
	alike, _, err := requesting(pod, pod, 1, 1)
	if err != nil {
		return nil, err
	}
	for _, ratio := range []float64{1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100} {
		more, less, err := requesting(pod, pod, ratio, 1)
		if err != nil {
			return nil, err
		}
		heavy.points = append(heavy.points, plotter.XY{X: ratio, Y: more})
		light.points = append(light.points, plotter.XY{X: ratio, Y: less})
		equal.points = append(equal.points, plotter.XY{X: ratio, Y: alike})
	}
	return curves{
		shows: "Dilation of two pods that share a core and compute 60 % of their time, against the ratio of their requests", dots: true,
		x:     axis{means: "ratio of the two requests", ticks: ticks("%g", 1, 2, 5, 10, 20, 50, 100), log: true},
		y:     axis{means: "dilation", ticks: ticks("%g", 1, 1.5, 2, 2.5)},
		lines: []line{light, equal, heavy},
	}.chart(), nil
}
