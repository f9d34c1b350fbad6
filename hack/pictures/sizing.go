package main

import (
	"errors"
	"fmt"

	"loadline.dev/loadline/pkg/model/queueing"
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

// fewest returns how many servers keep the promise.
func fewest(rate float64) (int, error) {
	for servers := 1; ; servers++ {
		fraction, _, err := answered(rate, servers)
		if err != nil || fraction >= promised {
			return servers, err
		}
	}
}

// drawSizing draws the fraction of requests that are answered in time against servers.
func drawSizing() (*drawing, error) {
	d := newDrawing(350, "The part of requests that is answered within 2 s, against the number of servers")
	a := &axes{drawing: d, left: 64, top: 54, width: 560, height: 238, x: span{from: 1, to: 8}, y: span{from: 0.93, to: 0.99}}
	var servers []mark
	for n := 1; n <= 8; n++ {
		servers = append(servers, mark{float64(n), fmt.Sprint(n)})
	}
	a.frame(servers, []mark{{0.93, "93 %"}, {0.95, "95 %"}, {0.97, "97 %"}, {0.99, "99 %"}}, "servers", "answered within 2 s")
	x, y := a.at(8, promised)
	d.line(a.left, y, x, y, ink, "6 4")
	d.text(x+10, y+4.5, from, "the promise", style{size: 12})
	for i, line := range []struct {
		rate  float64
		color string
	}{{2, blue}, {4, red}, {8, green}} {
		var points [][2]float64
		for n := 1; n <= 8; n++ {
			fraction, stable, err := answered(line.rate, n)
			if err != nil {
				return nil, err
			}
			if stable && fraction >= a.y.from {
				points = append(points, [2]float64{float64(n), fraction})
			}
		}
		a.curve(points, line.color)
		low := 132 + 24*float64(i)
		d.path([][2]float64{{646, low - 4}, {672, low - 4}}, line.color)
		d.dot(659, low-4, line.color)
		d.text(680, low, from, fmt.Sprintf("%.0f a second", line.rate), style{size: 12})
	}
	return d, nil
}
