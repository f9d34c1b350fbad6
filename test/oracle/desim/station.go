package desim

import (
	"math"
	"slices"
)

// station shares its servers among the jobs that are there.
type station struct {
	servers float64
	speed   float64
	present []visitor // the next to leave last
	// What each visitor has been served since the station was last empty, and until
	// when that is counted. All visitors get the same, so that the order in which
	// they leave does not change when others come.
	served, until float64
	// When the next visitor leaves if none arrives; +Inf if there is none.
	due float64
}

// visitor is a job on a visit.
type visitor struct {
	job   *job
	leave float64 // what the visitors will have been served when it leaves
}

// enter lets a job in with the given work.
func (s *station) enter(now float64, j *job, work float64) {
	s.serve(now)
	leave := s.served + work
	at, _ := slices.BinarySearchFunc(s.present, leave, func(g visitor, leave float64) int {
		if g.leave > leave {
			return -1
		}
		return 1
	})
	s.present = slices.Insert(s.present, at, visitor{j, leave})
	s.schedule()
}

// leave removes the next job, at the time when it is due.
func (s *station) leave() *job {
	last := len(s.present) - 1
	next := s.present[last]
	s.present = s.present[:last]
	s.served, s.until = next.leave, s.due
	s.schedule()
	return next.job
}

// rate returns at how many seconds of work per second each visitor is served.
func (s *station) rate() float64 {
	return s.speed * min(1, s.servers/float64(len(s.present)))
}

// serve counts what the visitors have been served until now.
func (s *station) serve(now float64) {
	if len(s.present) > 0 {
		s.served += (now - s.until) * s.rate()
	}
	s.until = now
}

// schedule computes when the next visitor leaves.
func (s *station) schedule() {
	if len(s.present) == 0 {
		s.served, s.due = 0, math.Inf(1) // small numbers keep their digits
		return
	}
	s.due = s.until + (s.present[len(s.present)-1].leave-s.served)/s.rate()
}
