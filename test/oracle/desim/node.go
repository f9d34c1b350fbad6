package desim

import (
	"math"
	"math/rand/v2"
)

// node is the state of a server.
type node struct {
	stations []station // those of the server, then the one for idling
	jobs     []job     // in the order of their arrivals
	rng      *rand.Rand
}

// job is the state of a job.
type job struct {
	index   int // in the list that Run was given
	arrival float64
	tour    tour
}

func newNode(server Server, rng *rand.Rand) *node {
	n := &node{rng: rng}
	for _, s := range server {
		n.stations = append(n.stations, station{servers: float64(s.Servers), speed: s.Speed, due: math.Inf(1)})
	}
	n.stations = append(n.stations, station{servers: math.Inf(1), speed: 1, due: math.Inf(1)})
	return n
}

// run goes from event to event until all jobs are done, and notes when each is.
func (n *node) run(ends []float64) {
	for next := 0; ; {
		at, first := math.Inf(1), -1
		for i := range n.stations {
			if due := n.stations[i].due; due < at {
				at, first = due, i
			}
		}
		switch {
		case next < len(n.jobs) && n.jobs[next].arrival <= at:
			n.proceed(&n.jobs[next], n.jobs[next].arrival, ends)
			next++
		case first < 0:
			return
		default:
			n.proceed(n.stations[first].leave(), at, ends)
		}
	}
}

// proceed sends a job to its next visit, or completes it.
func (n *node) proceed(j *job, now float64, ends []float64) {
	v, ok := j.tour.next(n.rng)
	if !ok {
		ends[j.index] = now
		return
	}
	n.stations[v.station].enter(now, j, v.work)
}
