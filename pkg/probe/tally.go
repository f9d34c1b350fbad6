package probe

import (
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

// sampling is the interval between two samples of a series, until there are too many.
const sampling = 50 * time.Millisecond

// tally is one worker's account of its work. Only the worker writes to it, once per unit.
type tally struct {
	units     uint64
	last      int64 // when the last unit ended
	ran       int64 // the processor time until then, in nanoseconds
	work      samples
	processor samples // of the processor time, in milliseconds
}

// start begins the account of work that begins now.
func (t *tally) start(now, interval int64) {
	*t = tally{last: now}
	t.work.start(now, interval)
	t.processor.start(now, interval)
}

// note counts a unit that has ended now, when the worker has run the given nanoseconds.
func (t *tally) note(now, ran int64) {
	t.work.note(t.last, now, 1000*int64(t.units), 1000)
	t.processor.note(t.last, now, t.ran/1000, (ran-t.ran)/1000)
	t.units++
	t.last, t.ran = now, ran
}

// samples are a series in the making: at a fixed interval, which doubles whenever there
// are too many.
type samples struct {
	next        int64 // when the next one is due
	series      result.Series
	thousandths [result.MaxSamples]int64 // of the series
}

func (s *samples) start(now, interval int64) {
	s.next, s.series = now+interval, result.Series{Begin: now, Interval: interval}
	s.thousandths[0] = 0
	s.series.Thousandths = s.thousandths[:1]
}

// note takes the samples that are due up to now, of what was so many thousandths before
// and has grown since, evenly.
func (s *samples) note(before, now, was, growth int64) {
	for now >= s.next {
		s.add(was + growth*(s.next-before)/(now-before))
	}
}

func (s *samples) add(thousandths int64) {
	if len(s.series.Thousandths) == result.MaxSamples {
		thin(&s.series)
	}
	s.series.Thousandths = append(s.series.Thousandths, thousandths)
	s.next = s.series.Begin + int64(len(s.series.Thousandths))*s.series.Interval
}

// thin drops every other sample, in place, and so doubles the interval.
func thin(s *result.Series) {
	kept := 0
	for k := 0; k < len(s.Thousandths); k += 2 {
		s.Thousandths[kept] = s.Thousandths[k]
		kept++
	}
	s.Thousandths = s.Thousandths[:kept]
	s.Interval *= 2
}

// total returns the work and the processor time of all workers, which began at the same
// time and with the same interval, and how many units they did.
func total(tallies []tally) (work, processor result.Series, units uint64) {
	works, processors := make([]*result.Series, len(tallies)), make([]*result.Series, len(tallies))
	for i := range tallies {
		works[i], processors[i] = &tallies[i].work.series, &tallies[i].processor.series
		units += tallies[i].units
	}
	return sum(works), sum(processors), units
}

// sum adds series up that begin at the same time and with the same interval, up to the
// last sample that all of them have.
func sum(all []*result.Series) result.Series {
	sum := result.Series{Begin: all[0].Begin}
	for _, s := range all {
		sum.Interval = max(sum.Interval, s.Interval)
	}
	samples := result.MaxSamples
	for _, s := range all {
		for s.Interval < sum.Interval {
			thin(s)
		}
		samples = min(samples, len(s.Thousandths))
	}
	sum.Thousandths = make([]int64, samples)
	for _, s := range all {
		for k := range sum.Thousandths {
			sum.Thousandths[k] += s.Thousandths[k]
		}
	}
	return sum
}
