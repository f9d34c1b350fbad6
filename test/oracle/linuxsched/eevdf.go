package linuxsched

// class is how a kernel orders the entities of a run queue. All times are virtual unless said otherwise.
type class interface {
	advanced(q *runqueue, e *entity) bool              // what runs has used time: does that end its turn?
	ticked(s *simulation, q *runqueue, e *entity) bool // a tick comes while it runs: does that end its turn?
	place(q *runqueue, e *entity, h how)               // one is about to join
	removed(q *runqueue, e *entity, h how)             // one is about to leave
	shrunk(q *runqueue)                                // one has left
	migrates(q *runqueue, e *entity)                   // one that is not queued is about to wake up on another processor
	delays(q *runqueue, e *entity) bool                // one that sleeps: does it stay queued?
	undelayed(q *runqueue, e *entity)                  // one that stayed queued wakes up
	reweighed(q *runqueue, e *entity, weight float64)  // a queued one gets another weight
	pick(q *runqueue) *entity                          // which is to run now
	picked(q *runqueue, e *entity)                     // one runs now that did not
	preempts(q *runqueue, woken *entity) bool          // does a woken one run before what runs?
	prefers(q *runqueue, e *entity) bool               // is one a buddy, kept for its cache?
}

// eevdf is "Earliest Eligible Virtual Deadline First" of Stoica and Abdel-Wahab, 1995, as Linux has it.
type eevdf struct {
	slice, tick    float64 // ns
	lagBeyondSlice bool
	sliceEndsRun   bool
}

// tolerance is how far rounding may put a virtual time, in ns.
const tolerance = 1e-2

// virtual returns a time of an entity in its virtual time.
func virtual(ns float64, e *entity) float64 { return ns * niceZero / e.weight }

// virtualTime returns the weighted average of the virtual run times in a queue.
func (*eevdf) virtualTime(q *runqueue) float64 {
	sum, weight := 0.0, 0.0
	for _, e := range q.waiting {
		sum += (e.vruntime - q.zero) * e.weight
		weight += e.weight
	}
	if e := q.current; e != nil && e.queued {
		sum += (e.vruntime - q.zero) * e.weight
		weight += e.weight
	}
	if weight > 0 {
		q.zero += sum / weight
	}
	return q.zero
}

// lagOf returns by how much an entity is behind its share, within bounds.
func (f *eevdf) lagOf(q *runqueue, e *entity) float64 {
	bound := max(2*f.slice, f.tick)
	if f.lagBeyondSlice {
		bound = f.slice + f.tick
	}
	bound = virtual(bound, e)
	return max(-bound, min(bound, f.virtualTime(q)-e.vruntime))
}

func (f *eevdf) eligible(q *runqueue, e *entity) bool {
	return q.count == 1 || e.vruntime <= f.virtualTime(q)+tolerance
}

func (*eevdf) protects(e *entity) bool { return e.vruntime < e.protected }

func (f *eevdf) advanced(q *runqueue, e *entity) bool {
	if e.vruntime >= e.deadline {
		e.deadline = e.vruntime + virtual(f.slice, e)
		return true
	}
	if f.protects(e) {
		return false
	}
	return f.sliceEndsRun || !f.eligible(q, e)
}

func (*eevdf) ticked(*simulation, *runqueue, *entity) bool { return false }

func (f *eevdf) place(q *runqueue, e *entity, h how) {
	at := f.virtualTime(q)
	if q.count > 0 { // keep the lag after the average has moved by the new entity
		at -= e.lag * (q.weight + e.weight) / q.weight
	}
	e.vruntime = at
	switch {
	case e.relative:
		e.deadline += at
		e.relative = false
	case h.first:
		e.deadline = at + virtual(f.slice, e)/2
	default:
		e.deadline = at + virtual(f.slice, e)
	}
}

func (f *eevdf) removed(q *runqueue, e *entity, h how) {
	e.lag = f.lagOf(q, e)
	if !h.sleep {
		e.deadline -= e.vruntime
		e.relative = true
	}
}

func (*eevdf) shrunk(*runqueue) {}

func (*eevdf) migrates(*runqueue, *entity) {}

func (f *eevdf) delays(q *runqueue, e *entity) bool { return !f.eligible(q, e) }

func (f *eevdf) undelayed(q *runqueue, e *entity) {
	if lag := f.lagOf(q, e); lag > 0 { // it has slept off its debt and gets no credit
		e.lag = 0
		e.vruntime = f.virtualTimeWithout(q, e)
		e.deadline = e.vruntime + virtual(f.slice, e)
	}
}

// virtualTimeWithout returns the virtual time of the others in a queue.
func (f *eevdf) virtualTimeWithout(q *runqueue, without *entity) float64 {
	all := f.virtualTime(q)
	if rest := q.weight - without.weight; rest > 0 && q.count > 1 {
		return all + (all-without.vruntime)*without.weight/rest
	}
	return all
}

func (f *eevdf) reweighed(q *runqueue, e *entity, weight float64) {
	at := f.virtualTime(q)
	if at != e.vruntime {
		e.vruntime = at - f.lagOf(q, e)*e.weight/weight
	}
	deadline := at + (e.deadline-at)*e.weight/weight
	if f.protects(e) {
		e.protected = deadline
	}
	e.deadline = deadline
}

func (f *eevdf) pick(q *runqueue) *entity {
	current := q.current
	if current != nil && !current.queued {
		current = nil
	}
	if q.count == 1 {
		if current != nil {
			return current
		}
		return q.waiting[0]
	}
	at := f.virtualTime(q) + tolerance
	if e := q.next; e != nil && e.vruntime <= at {
		return e
	}
	return f.earliest(q, current, at)
}

// earliest returns the eligible entity with the earliest deadline, or what runs while its slice is protected.
func (f *eevdf) earliest(q *runqueue, current *entity, at float64) *entity {
	if current != nil && current.vruntime > at {
		current = nil
	}
	if current != nil && f.protects(current) {
		return current
	}
	var best *entity
	for _, e := range q.waiting {
		if e.vruntime <= at && (best == nil || e.deadline < best.deadline) {
			best = e
		}
	}
	if best == nil || current != nil && current.deadline < best.deadline {
		return current
	}
	return best
}

func (*eevdf) picked(_ *runqueue, e *entity) { e.protected = e.deadline }

func (f *eevdf) preempts(q *runqueue, woken *entity) bool {
	if q.current == nil || !q.current.queued {
		return false
	}
	return f.earliest(q, q.current, f.virtualTime(q)+tolerance) == woken
}

func (*eevdf) prefers(q *runqueue, e *entity) bool { return q.next == e }
