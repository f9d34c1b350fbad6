package main

import (
	"context"
	"math"

	"gonum.org/v1/plot/plotter"

	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/report/chart"
)

// busy is how busy each of the two workloads keeps the core.
const busy = 0.4

// shared returns the mean responses of two workloads, of which the first has ratio times the share of the second, as
// multiples of their service time.
func shared(ratio float64) (large, small float64, err error) {
	tree, err := fairshare.New(&fairshare.Group{Children: []*fairshare.Group{
		{Name: "large", Share: ratio, Utilization: busy},
		{Name: "small", Share: 1, Utilization: busy},
	}})
	if err != nil {
		return 0, 0, err
	}
	solution, err := fairshare.Solve(context.Background(), tree, fairshare.Options{})
	if err != nil {
		return 0, 0, err
	}
	return solution.Factors[0], solution.Factors[1], nil
}

// drawShare draws the responses of both against the ratio of their shares.
func drawShare() (chart.Chart, error) {
	small, mean, large := line{name: "the smaller share", color: red}, line{name: "the mean", color: chart.SoftInk}, line{name: "the larger share", color: blue}
	for i := range 61 {
		ratio := math.Pow(10, float64(i)/20)
		l, s, err := shared(ratio)
		if err != nil {
			return nil, err
		}
		small.points = append(small.points, plotter.XY{X: ratio, Y: s})
		mean.points = append(mean.points, plotter.XY{X: ratio, Y: (l + s) / 2})
		large.points = append(large.points, plotter.XY{X: ratio, Y: l})
	}
	return curves{
		shows: "Mean responses of two workloads against the ratio of their shares",
		x:     axis{means: "ratio of the shares", log: true, ticks: ticks("%g : 1", 1, 4, 10, 100, 1000)},
		y:     axis{means: "mean response, in service times", ticks: ticks("%g", 0, 2, 4, 6, 8, 10)},
		lines: []line{small, mean, large},
		named: true,
	}.chart(), nil
}
