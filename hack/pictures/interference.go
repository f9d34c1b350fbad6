package main

import (
	"gonum.org/v1/plot/plotter"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/report/chart"
)

// routerCurve is the sensitivity curve of a pod that lives on a table in the cache.
var routerCurve = loading.Curve{{Pressure: 0.5, Inflation: 1.4}, {Pressure: 1, Inflation: 2.1}}

// besideScan returns the dilation of a pod that computes 90 % of its time, beside one that always computes and presses so
// hard on the cache, on a node of some cores and caches.
func besideScan(pressure float64, cores, caches int) (float64, error) {
	router := loading.Vector{loading.Symmetric(0.9), {Effect: &loading.Effect{Curve: routerCurve}}}
	scan := loading.Vector{loading.Symmetric(1), {Effect: &loading.Effect{Pressure: pressure}}}
	p, err := contention.Predict([]loading.Vector{router, scan}, []int{cores, caches}, queueing.Options{})
	if err != nil {
		return 0, err
	}
	return p.Dilations[0], nil
}

// drawInterference draws that dilation against the pressure.
func drawInterference() (chart.Chart, error) {
	lines := []line{{name: "one core", color: chart.SoftInk, dashed: true}, {name: "two cores, one cache", color: red}, {name: "8 cores, two caches", color: blue}}
	nodes := [][2]int{{1, 1}, {2, 1}, {8, 2}}
	for i := range 61 {
		pressure := float64(i) / 40
		for k, node := range nodes {
			dilation, err := besideScan(pressure, node[0], node[1])
			if err != nil {
				return nil, err
			}
			lines[k].points = append(lines[k].points, plotter.XY{X: pressure, Y: dilation})
		}
	}
	return curves{
		shows: "Dilation of a pod against how hard its neighbor presses on the cache, on three nodes",
		x:     axis{means: "pressure of the neighbor", ticks: ticks("%g", 0, 0.5, 1, 1.5)},
		y:     axis{means: "dilation of the pod", ticks: ticks("%g", 1, 1.25, 1.5, 1.75, 2)},
		lines: lines,
		named: true,
	}.chart(), nil
}
