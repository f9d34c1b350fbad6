package main

import (
	"context"
	"math"

	"loadline.dev/loadline/pkg/model/fairshare"
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
func drawShare() (*drawing, error) {
	d := newDrawing(350, "Mean responses of two workloads against the ratio of their shares")
	a := &axes{drawing: d, left: 64, top: 54, width: 540, height: 238, x: span{from: 1, to: 1000, logarithmic: true}, y: span{from: 0, to: 10}}
	a.frame(
		[]mark{{1, "1 : 1"}, {4, "4 : 1"}, {10, "10 : 1"}, {100, "100 : 1"}, {1000, "1000 : 1"}},
		[]mark{{0, "0"}, {2, "2"}, {4, "4"}, {6, "6"}, {8, "8"}, {10, "10"}},
		"ratio of the shares", "mean response, in service times",
	)
	var large, small, mean [][2]float64
	for i := range 61 {
		ratio := math.Pow(10, float64(i)/20)
		l, s, err := shared(ratio)
		if err != nil {
			return nil, err
		}
		large, small, mean = append(large, [2]float64{ratio, l}), append(small, [2]float64{ratio, s}), append(mean, [2]float64{ratio, (l + s) / 2})
	}
	for _, line := range []struct {
		points [][2]float64
		name   string
		color  string
	}{{small, "the smaller share", red}, {mean, "the mean", faint}, {large, "the larger share", blue}} {
		a.curve(line.points, line.color)
		a.label(line.points[len(line.points)-1], line.name, line.color)
	}
	return d, nil
}
