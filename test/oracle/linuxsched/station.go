package linuxsched

import "time"

// Discipline is the order in which a station serves.
type Discipline int

// The disciplines.
const (
	FIFO    Discipline = iota // first in, first out
	Sharing                   // all at once, at equal parts of the speed (processor sharing)
)

// Station is a resource beside the processors that threads visit: a disk, a link.
type Station struct {
	Servers    int // visits that it serves at full speed, 0 for 1
	Discipline Discipline
}

// station is one at run time. Service is in ns.
type station struct {
	servers    int
	discipline Discipline
	slot       int
	visits     []visit // in the order of arrival
	at         int64   // when the visits were last served
}

type visit struct {
	thread *thread
	left   float64
	served float64 // since it was last counted
}

// active returns how many visits are served, and at which speed.
func (t *station) active() (int, float64) {
	n := len(t.visits)
	if t.discipline == FIFO || n <= t.servers {
		return min(n, t.servers), 1
	}
	return n, float64(t.servers) / float64(n)
}

// serve serves the visits until now.
func (t *station) serve(now int64) {
	n, speed := t.active()
	done := float64(now-t.at) * speed
	for i := range n {
		v := &t.visits[i]
		v.served += min(done, v.left)
		v.left = max(0, v.left-done)
	}
	t.at = now
}

// plan sets when the next visit ends.
func (t *station) plan(s *simulation) {
	n, speed := t.active()
	next := int64(never)
	for i := range n {
		next = min(next, s.now+int64(t.visits[i].left/speed+0.5))
	}
	s.clocks.set(t.slot, next)
}

func (t *station) arrive(s *simulation, thread *thread) {
	t.serve(s.now)
	t.visits = append(t.visits, visit{thread, float64(max(1, thread.step.Length)), 0})
	t.plan(s)
}

// complete ends the visits that have been served.
func (t *station) complete(s *simulation) {
	t.serve(s.now)
	n, _ := t.active()
	var ended []visit
	kept := t.visits[:0]
	for i, v := range t.visits {
		if i < n && v.left < 1 {
			ended = append(ended, v)
		} else {
			kept = append(kept, v)
		}
	}
	for _, v := range ended {
		s.leaveStation(v)
	}
	t.visits = kept
	t.plan(s)
	for _, v := range ended {
		s.wake(v.thread)
	}
}

// leaveStation accounts for a visit that has ended.
func (s *simulation) leaveStation(v visit) {
	u := &s.usage[v.thread.pod]
	u.Service += time.Duration(v.served)
	u.WaitThere += time.Duration(s.now-v.thread.since) - time.Duration(v.served)
	v.thread.since = s.now
}

// progress returns how much service is left of a thread's visit, and how much it had since this was last asked.
func (t *station) progress(s *simulation, thread *thread) (left, served int64) {
	t.serve(s.now)
	for i := range t.visits {
		if v := &t.visits[i]; v.thread == thread {
			left, served = int64(v.left), int64(v.served)
			v.served = 0
			return left, served
		}
	}
	return 0, 0
}
