package main

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/report/chart"
)

// day are the jobs of the picture of epochs.
func day() (names []string, runs []mix.Run) {
	return []string{"filecomp", "std-io", "sort"}, []mix.Run{
		{Neutral: fileCompSeconds, Vector: fileComp},
		{Neutral: stdIOSeconds, Vector: stdIO},
		{Start: sortingStarts, Neutral: sortingSeconds, Vector: sorting},
	}
}

// epoch is a time in which the same jobs are there.
type epoch struct {
	begin, end float64
	dilations  map[int]float64 // of the jobs that are there, by their places
}

// epochsOf returns when each job is done, and the epochs.
func epochsOf(runs []mix.Run) (ends []float64, epochs []epoch, err error) {
	ends, err = mix.CompletionsBy(runs, single, queueing.Options{Solver: queueing.Exact})
	if err != nil {
		return nil, nil, err
	}
	events := slices.Clone(ends)
	for _, r := range runs {
		events = append(events, r.Start)
	}
	slices.Sort(events)
	events = slices.Compact(events)
	for i := range len(events) - 1 {
		e := epoch{begin: events[i], end: events[i+1], dilations: map[int]float64{}}
		var there []int
		var vectors []loading.Vector
		for j, r := range runs {
			if r.Start <= e.begin && ends[j] >= e.end {
				there, vectors = append(there, j), append(vectors, r.Vector)
			}
		}
		dilations, err := exactly(single, vectors...)
		if err != nil {
			return nil, nil, err
		}
		for k, j := range there {
			e.dilations[j] = dilations[k]
		}
		epochs = append(epochs, e)
	}
	return ends, epochs, nil
}

// drawEpochs draws the jobs over time, paler where they run slower.
func drawEpochs() (chart.Chart, error) {
	names, runs := day()
	ends, epochs, err := epochsOf(runs)
	if err != nil {
		return nil, err
	}
	return drawing(220, "Three jobs on a node over time: between two events each runs at a steady speed", func(c canvas) {
		const left, second, high, apart = 52, 3.6, 30, 44
		for i, e := range epochs {
			c.text(left+second*vg.Length(e.begin+e.end)/2, 5, chart.AlignCenter(faint), fmt.Sprintf("epoch %d", i+1))
		}
		for j, name := range names {
			y := 20 + apart*vg.Length(j)
			c.text(left-8, y+high/2, chart.AlignRight(strong), name)
			for _, e := range epochs {
				dilation, there := e.dilations[j]
				if !there {
					continue
				}
				x, width := left+second*vg.Length(e.begin), second*vg.Length(e.end-e.begin)
				c.rect(x, y, width, high, paint{color: shade(1 / dilation)}, blue)
				if width > 60 {
					c.text(x+width/2, y+high/2, chart.AlignCenter(plain), fmt.Sprintf("λ = %.2f", dilation))
				}
			}
			c.text(left+second*vg.Length(ends[j])+6, y+high/2, small, fmt.Sprintf("%.1f s", ends[j]))
		}
		bottom := 20 + apart*vg.Length(len(names))
		for _, e := range epochs[1:] {
			x := left + second*vg.Length(e.begin)
			c.line(x, 12, x, bottom, chart.SoftInk, 2.5, 2.5)
		}
		c.seconds(left, bottom+3, second)
	}), nil
}

// shade is a blue that is the darker the faster a job runs, for speeds from 0.5 of its own to 1.
func shade(speed float64) color.NRGBA {
	part := min(1, max(0, (speed-0.5)/0.5))
	level := func(pale, dark float64) uint8 { return uint8(pale + part*(dark-pale) + 0.5) }
	return color.NRGBA{R: level(235, 120), G: level(244, 184), B: level(250, 222), A: 0xFF}
}
