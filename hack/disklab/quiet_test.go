package main

import (
	"math/rand/v2"
	"testing"
)

func TestAFindingIsFalseWhereThePodIsNotSlowedByItsOwnClock(t *testing.T) {
	t.Parallel()
	const quietly, slowly = 0.01, 0.05 // seconds of ten operations in a second
	all := []claim{
		{units: 10, latency: quietly, cycle: 1},
		{units: 10, latency: quietly, cycle: 1},
		{units: 10, latency: quietly, cycle: 1},
		{units: 10, latency: quietly, cycle: 1, added: 0.3},                 // false
		{units: 10, latency: quietly, cycle: 1, added: 0.3, neighbour: 0.3}, // false, and names a neighbour
		{units: 10, latency: 0.3, cycle: 1, added: 0.3},                     // true
		{units: 10, latency: slowly, cycle: 1, added: 0.1},                  // none
		{units: 0, cycle: 1},
		{pod: 1, units: 10, latency: 0.3, cycle: 1}, // it is always so slow
	}
	got := &tally{}
	got.add(all)
	if want := (tally{intervals: 9, slowed: 1, said: 3, false: 2, neighbours: 1}); *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}

func TestQuietJobsWaitForTheirOperationsAndThinkMostOfTheTime(t *testing.T) {
	t.Parallel()
	for i := range uint64(100) {
		for _, s := range drawQuiet(rand.New(rand.NewPCG(1, i))) {
			if err := s.validate(); err != nil || !s.waits() || s.Depth != 1 || s.Think < 0.004 {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
}
