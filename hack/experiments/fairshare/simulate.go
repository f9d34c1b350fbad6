package main

import (
	"math"
	"time"
)

// discipline divides a processor among workloads.
type discipline struct {
	// divide sets the part of the processor that each workload gets, given how many
	// jobs it has. The parts add up to 1 as soon as there is a job.
	divide func(jobs []int, parts []float64)
	// abreast serves all jobs of a workload at once, at equal speed; otherwise each
	// waits for the one before it.
	abreast bool
}

// simulate returns how long each job takes from its arrival to its end. The processor
// is divided without a loss, into parts as small as the discipline likes; nothing is
// left to chance but what the jobs say.
func simulate(jobs [][]job, d discipline) [][]time.Duration {
	s := &simulation{
		jobs: jobs, discipline: d, left: make([][]pending, len(jobs)), arrived: make([]int, len(jobs)),
		counts: make([]int, len(jobs)), parts: make([]float64, len(jobs)), took: make([][]time.Duration, len(jobs)),
	}
	for w := range jobs {
		s.took[w] = make([]time.Duration, len(jobs[w]))
	}
	for s.step() {
		continue
	}
	return s.took
}

// pending is a job that is not done.
type pending struct {
	index int
	left  float64 // seconds
}

type simulation struct {
	discipline
	jobs    [][]job
	now     float64     // seconds
	left    [][]pending // in the order of arrival
	arrived []int       // how many have
	counts  []int
	parts   []float64
	took    [][]time.Duration
}

// step goes on to the next arrival or end of a job, and reports whether there was one.
func (s *simulation) step() bool {
	for w := range s.left {
		s.counts[w] = len(s.left[w])
	}
	clear(s.parts)
	s.divide(s.counts, s.parts)
	arriving, arrival := s.nextArrival()
	ending, place, end := s.nextEnd()
	switch {
	case arriving < 0 && ending < 0:
		return false
	case ending < 0 || arrival <= end:
		s.advance(arrival)
		k := s.arrived[arriving]
		s.left[arriving] = append(s.left[arriving], pending{k, s.jobs[arriving][k].Demand.Seconds()})
		s.arrived[arriving]++
	default:
		s.advance(end)
		k := s.left[ending][place].index
		s.took[ending][k] = seconds(s.now) - s.jobs[ending][k].Arrival
		s.left[ending] = append(s.left[ending][:place], s.left[ending][place+1:]...)
	}
	return true
}

// nextArrival returns the workload of the next job, -1 if there is none, and its time.
func (s *simulation) nextArrival() (workload int, at float64) {
	workload, at = -1, math.Inf(1)
	for w, k := range s.arrived {
		if k < len(s.jobs[w]) {
			if t := s.jobs[w][k].Arrival.Seconds(); t < at {
				workload, at = w, t
			}
		}
	}
	return workload, at
}

// nextEnd returns the workload, -1 if there is none, and the place of the job that will
// end next if no other arrives, and when.
func (s *simulation) nextEnd() (workload, place int, at float64) {
	workload, at = -1, math.Inf(1)
	for w := range s.left {
		for i := range s.served(w) {
			if t := s.now + s.left[w][i].left/s.speed(w); t < at {
				workload, place, at = w, i, t
			}
		}
	}
	return workload, place, at
}

// served returns how many jobs of a workload are being served.
func (s *simulation) served(w int) int {
	switch {
	case s.parts[w] == 0:
		return 0
	case s.abreast:
		return len(s.left[w])
	default:
		return min(1, len(s.left[w]))
	}
}

// speed returns that of each job that is being served.
func (s *simulation) speed(w int) float64 { return s.parts[w] / float64(s.served(w)) }

func (s *simulation) advance(to float64) {
	for w := range s.left {
		for i := range s.served(w) {
			s.left[w][i].left = max(0, s.left[w][i].left-(to-s.now)*s.speed(w))
		}
	}
	s.now = to
}
