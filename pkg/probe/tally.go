package probe

import (
	"time"

	"loadline.dev/loadline/pkg/probe/report"
)

// sampling is the interval between two samples of a series, until there are too many.
const sampling = 50 * time.Millisecond

// tally is one worker's account of its work: samples at a fixed interval, which doubles
// whenever there are too many. Only the worker writes to it, once per unit.
type tally struct {
	units       uint64
	last        int64 // when the last unit ended
	next        int64 // when the next sample is due
	series      report.Series
	thousandths [report.MaxSamples]int64 // of the series
}

// start begins the account of work that begins now.
func (t *tally) start(now, interval int64) {
	*t = tally{last: now, next: now + interval, series: report.Series{Begin: now, Interval: interval}}
	t.series.Thousandths = t.thousandths[:1]
}

// note counts a unit that has ended now. Of a unit that was under way when a sample was
// due, the part that its time says was done by then.
func (t *tally) note(now int64) {
	for now >= t.next {
		t.add(int64(t.units)*1000 + 1000*(t.next-t.last)/(now-t.last))
	}
	t.units++
	t.last = now
}

func (t *tally) add(thousandths int64) {
	if len(t.series.Thousandths) == report.MaxSamples {
		thin(&t.series)
	}
	t.series.Thousandths = append(t.series.Thousandths, thousandths)
	t.next = t.series.Begin + int64(len(t.series.Thousandths))*t.series.Interval
}

// thin drops every other sample, in place, and so doubles the interval.
func thin(s *report.Series) {
	kept := 0
	for k := 0; k < len(s.Thousandths); k += 2 {
		s.Thousandths[kept] = s.Thousandths[k]
		kept++
	}
	s.Thousandths = s.Thousandths[:kept]
	s.Interval *= 2
}

// total returns the series of all workers, which began at the same time and with the same
// interval, up to the last sample that all of them have, and how many units they did.
func total(tallies []tally) (report.Series, uint64) {
	var units uint64
	sum := report.Series{Begin: tallies[0].series.Begin}
	for i := range tallies {
		units += tallies[i].units
		sum.Interval = max(sum.Interval, tallies[i].series.Interval)
	}
	samples := report.MaxSamples
	for i := range tallies {
		s := &tallies[i].series
		for s.Interval < sum.Interval {
			thin(s)
		}
		samples = min(samples, len(s.Thousandths))
	}
	sum.Thousandths = make([]int64, samples)
	for i := range tallies {
		for k := range sum.Thousandths {
			sum.Thousandths[k] += tallies[i].series.Thousandths[k]
		}
	}
	return sum, units
}
