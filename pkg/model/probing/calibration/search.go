// Package calibration finds how many servers a resource has: the least intensity of
// a probe, in workers, at which two copies of it dilate each other to 2.
//
// Two probes of n workers on c servers dilate each other by 2n/c, at least 1, as long
// as n ≤ c, and by 2 from then on: each alone keeps all servers busy. [Search] says
// which intensity to measure next. It measures nothing itself, and imports the
// standard library only.
package calibration

import (
	"fmt"
	"math"
	"math/bits"
)

// LeastDilation is how much two copies dilate each other, at least, if one keeps
// the resource busy: 2 less 5 %. More than 2 + 5 % does, too: then they also disturb
// each other.
const LeastDilation = 1.9

// MostWorkers is the largest intensity that a search tries.
const MostWorkers = 1 << 14

// Search is the search for the number of servers of a resource: intensities 1, 2, 4,
// … until one is enough, then between that and the one before it by bisection. It
// takes about 2·log₂(c) measurements. Noise of less than 5 % does not mislead it where
// c is less than 20; beyond, it finds c to 5 %.
//
//	search := calibration.NewSearch(64)
//	for n, more := search.Next(); more; n, more = search.Next() {
//		if err := search.Record(measure(n)); err != nil { … }
//	}
//	servers, saturated := search.Servers()
//
// The zero value tries an intensity of 1 only.
type Search struct {
	most   int
	below  int // the largest intensity known not to be enough
	enough int // the least intensity known to be enough; 0: none
}

// NewSearch returns a search up to some intensity, from 1 to [MostWorkers]; a value beyond is moved
// to the nearest.
func NewSearch(most int) *Search { return &Search{most: min(MostWorkers, max(1, most))} }

// Steps returns how many measurements a search up to some intensity, at least 1, takes at
// most.
func Steps(most int) int { return 2 * bits.Len(uint(most)) }

// Next returns the intensity to measure next, and false when there is none because
// the search is over. Until [Search.Record] is called it is the same.
func (s *Search) Next() (intensity int, more bool) {
	most := max(1, s.most)
	switch {
	case s.enough == 0 && s.below < most:
		return min(most, max(1, 2*s.below)), true
	case s.enough > s.below+1:
		return (s.below + s.enough) / 2, true
	default:
		return 0, false
	}
}

// Record records the dilation of two copies by each other at the intensity that Next returned. The
// error is for a dilation that is not a positive, finite number, or when the search is over;
// nothing is recorded then.
func (s *Search) Record(dilation float64) error {
	intensity, more := s.Next()
	if !more {
		return fmt.Errorf("dilation: %v: the search is over", dilation)
	}
	if !(dilation > 0) || math.IsInf(dilation, 1) {
		return fmt.Errorf("dilation: %v of two copies of %d workers is not a positive, finite number", dilation, intensity)
	}
	if dilation >= LeastDilation {
		s.enough = intensity
	} else {
		s.below = intensity
	}
	return nil
}

// Servers returns the least intensity that was found to be enough, the number of
// servers of the resource. It is false if there is none so far: at the end of the
// search, that the resource cannot be saturated with the workers tried.
func (s *Search) Servers() (servers int, saturated bool) { return s.enough, s.enough > 0 }
