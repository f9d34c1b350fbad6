package gps

import (
	"encoding/binary"
	"math"
)

// leavesOf returns the leaves of the tree: jobs of one thread that are alike in every
// respect are one leaf.
func leavesOf(n *Network) []leaf {
	var leaves []leaf
	alike := map[string]int{}
	for j := range n.Jobs {
		job := &n.Jobs[j]
		limit := job.Limit
		if job.threads() > 1 {
			if limit == 0 {
				limit = float64(job.threads())
			}
			leaves = append(leaves, leaf{job: job, jobs: []int{j}, tokens: job.threads(), group: job.Group, weight: job.weight(), limit: limit})
			continue
		}
		key := string(job.appendKey(nil))
		l, known := alike[key]
		if !known {
			l = len(leaves)
			alike[key] = l
			leaves = append(leaves, leaf{job: job, group: job.Group, weight: job.weight(), limit: limited(1, limit), own: true})
		}
		leaves[l].tokens++
		leaves[l].jobs = append(leaves[l].jobs, j)
	}
	return leaves
}

// appendKey appends a key that distinguishes jobs of one thread.
func (j *Job) appendKey(key []byte) []byte {
	key = binary.AppendUvarint(key, uint64(j.Group))
	values := append([]float64{j.weight(), j.Limit, j.burst()}, j.Demands...)
	for len(values) > 3 && values[len(values)-1] == 0 {
		values = values[:len(values)-1]
	}
	for _, v := range values {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
	}
	return key
}

// idlePlace is the place of a token that is at no station.
const idlePlace = -1

// position is where a token of a leaf can be.
type position struct {
	station  int     // or idlePlace
	duration float64 // mean time there if nothing slows it
}

// itinerary is how the tokens of a leaf go round: next[a][b] is the probability that a
// token goes from place a to place b.
type itinerary struct {
	places []position
	next   [][]float64
}

// itineraryOf returns that of a job: a burst at the processor, then one visit elsewhere,
// to each other place as often as its demand there says, and back. A job that never
// computes goes from place to place.
func itineraryOf(job *Job) itinerary {
	var elsewhere []position // for how long in own times
	away := 0.0
	add := func(station int, demand float64) {
		elsewhere = append(elsewhere, position{station, demand})
		away += demand
	}
	for i := 1; i < len(job.Demands); i++ {
		if d := job.demand(i); d > 0 {
			add(i, d)
		}
	}
	if idle := job.idle(); idle > roundings {
		add(idlePlace, idle)
	}
	var it itinerary
	var shares []float64
	visit := job.burst()
	if p := job.demand(0); p > 0 {
		it.places = append(it.places, position{0, visit})
		shares = append(shares, 0)
		visit *= away / p
	}
	for _, place := range elsewhere {
		it.places = append(it.places, position{place.station, visit})
		shares = append(shares, place.duration/away)
	}
	it.next = make([][]float64, len(it.places))
	for a := range it.places {
		it.next[a] = shares
		if it.places[0].station == 0 && a > 0 || len(it.places) == 1 {
			it.next[a] = make([]float64, len(it.places))
			it.next[a][0] = 1
		}
	}
	return it
}

// roundOf returns the itinerary of a job for which all other places are one, where it is for a time in own
// times per round. The first place is the processor, if it has any demand there.
func roundOf(job *Job, elsewhere float64) itinerary {
	p := job.demand(0)
	switch {
	case p == 0:
		return itinerary{places: []position{{idlePlace, job.burst()}}, next: [][]float64{{1}}}
	case elsewhere <= roundings:
		return itinerary{places: []position{{0, job.burst()}}, next: [][]float64{{1}}}
	}
	return itinerary{
		places: []position{{0, job.burst()}, {idlePlace, job.burst() / p * elsewhere}},
		next:   [][]float64{{0, 1}, {1, 0}},
	}
}
