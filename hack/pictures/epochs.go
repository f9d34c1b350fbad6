package main

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
)

// day are the jobs of the picture of epochs.
func day() (names []string, runs []contention.Run) {
	return []string{"filecomp", "std-io", "sort"}, []contention.Run{
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
func epochsOf(runs []contention.Run) (ends []float64, epochs []epoch, err error) {
	ends, err = contention.CompletionsBy(runs, single, queueing.Options{Solver: queueing.Exact})
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
		var vectors []contention.Vector
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
func drawEpochs() (*drawing, error) {
	names, runs := day()
	ends, epochs, err := epochsOf(runs)
	if err != nil {
		return nil, err
	}
	d := newDrawing(280, "Three jobs on a node over time: between two events each runs at a steady speed")
	const left, second, high = 92, 4.8, 40
	for i, e := range epochs {
		middle := left + second*(e.begin+e.end)/2
		d.text(middle, 28, around, fmt.Sprintf("epoch %d", i+1), style{size: 12, color: faint})
	}
	for j, name := range names {
		y := 48 + 58*float64(j)
		d.text(left-12, y+high/2+4.5, until, name, style{bold: true})
		for _, e := range epochs {
			dilation, there := e.dilations[j]
			if !there {
				continue
			}
			x, width := left+second*e.begin, second*(e.end-e.begin)
			d.rect(x, y, width, high, shade(1/dilation), blue)
			if width > 80 {
				d.text(x+width/2, y+high/2+4.5, around, fmt.Sprintf("λ = %.2f", dilation), style{})
			}
		}
		d.text(left+second*ends[j]+8, y+high/2+4.5, from, fmt.Sprintf("%.1f s", ends[j]), style{size: 12})
	}
	bottom := 48 + 58*float64(len(names))
	for _, e := range epochs[1:] {
		d.line(left+second*e.begin, 36, left+second*e.begin, bottom, faint, "3 3")
	}
	for seconds := 0; seconds <= 120; seconds += 20 {
		x := left + second*float64(seconds)
		d.line(x, bottom+4, x, bottom+10, faint, "")
		d.text(x, bottom+26, around, fmt.Sprintf("%d s", seconds), style{size: 12, color: faint})
	}
	return d, nil
}

// shade is a blue that is the darker the faster a job runs, for speeds from 0.5 of its own to 1.
func shade(speed float64) string {
	const pale, dark = 235, 120 // of red; the others follow it to blue
	part := min(1, max(0, (speed-0.5)/0.5))
	level := func(pale, dark float64) int { return int(pale + part*(dark-pale) + 0.5) }
	return fmt.Sprintf("#%02X%02X%02X", level(pale, dark), level(244, 184), level(250, 222))
}
