package main

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/plotter"

	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/report/chart"
)

// The promise of the picture of sizing: within seconds, of requests whose service takes 0.5 s.
const (
	within      = 2.0
	serviceRate = 2.0
	promised    = 0.95
)

// answered returns the fraction of requests that servers answer in time; false where they cannot keep up.
func answered(rate float64, servers int) (fraction float64, stable bool, err error) {
	q, err := queueing.NewMMm(rate, serviceRate, servers)
	if errors.Is(err, queueing.ErrUnstable) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return q.ResponseWithin(within), true, nil
}

// drawSizing draws the fraction of requests that are answered in time against servers.
func drawSizing() (chart.Chart, error) {
	const most = 8
	c := curves{
		shows: "The part of requests that is answered within 2 s, against the number of servers", dots: true,
		x:     axis{means: "servers", ticks: ticks("%g", 1, 2, 3, 4, 5, 6, 7, most)},
		y:     axis{means: "answered within 2 s", ticks: ticks("%g %%", 93, 95, 97, 99)},
		lines: []line{{name: "the promise", color: chart.Ink, dashed: true, points: plotter.XYs{{X: 1, Y: 100 * promised}, {X: most, Y: 100 * promised}}}},
	}
	for i, rate := range []float64{2, 4, 8} {
		l := line{name: fmt.Sprintf("%.0f a second", rate), color: chart.Hue(i)}
		for n := 1; n <= most; n++ {
			fraction, stable, err := answered(rate, n)
			if err != nil {
				return nil, err
			}
			if stable && 100*fraction >= c.y.ticks[0].Value {
				l.points = append(l.points, plotter.XY{X: float64(n), Y: 100 * fraction})
			}
		}
		c.lines = append(c.lines, l)
	}
	return c.chart(), nil
}
