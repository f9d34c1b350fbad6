package linuxsched

// cfs is the completely fair scheduler of Linux 2.6.23 to 6.5.
type cfs struct {
	latency, minGranularity, wakeupGranularity float64 // ns
}

// manyThreads is the number from which on the period grows with it, and a preempted thread is its queue's last buddy.
const manyThreads = 8

// first returns the least virtual run time of those that wait.
func (*cfs) first(q *runqueue) *entity {
	var first *entity
	for _, e := range q.waiting {
		if first == nil || e.vruntime < first.vruntime {
			first = e
		}
	}
	return first
}

// raise lets the least virtual time of a queue follow its entities, never back.
func (f *cfs) raise(q *runqueue) {
	least := f.first(q)
	if e := q.current; e != nil && e.queued && (least == nil || e.vruntime < least.vruntime) {
		least = e
	}
	if least != nil {
		q.zero = max(q.zero, least.vruntime)
	}
}

func (f *cfs) advanced(q *runqueue, _ *entity) bool {
	f.raise(q)
	return false
}

// sliceOf returns the part of a period that is an entity's, in ns.
func (f *cfs) sliceOf(e *entity) float64 {
	slice := f.latency
	if threads := float64(e.queue.cpu.root.threads); threads > manyThreads {
		slice = threads * f.minGranularity
	}
	for ; e != nil; e = e.queue.entity {
		slice *= e.weight / e.queue.weight
	}
	return max(slice, f.minGranularity)
}

func (f *cfs) ticked(_ *simulation, q *runqueue, e *entity) bool {
	if q.count < 2 {
		return false
	}
	slice, ran := f.sliceOf(e), e.ran-e.ranBefore
	if ran > slice {
		q.forget(e)
		return true
	}
	if ran < f.minGranularity {
		return false
	}
	return e.vruntime-f.first(q).vruntime > slice
}

func (f *cfs) place(q *runqueue, e *entity, h how) {
	if e.relative {
		e.vruntime += q.zero
		e.relative = false
	}
	switch {
	case h.first:
		slice := f.latency * e.weight / (q.weight + e.weight)
		e.vruntime = q.zero + virtual(max(slice, f.minGranularity), e)
	case h.sleep: // half of a period of sleep counts
		e.vruntime = max(e.vruntime, q.zero-f.latency/2)
	}
}

func (f *cfs) removed(q *runqueue, e *entity, h how) {
	if !h.sleep {
		f.migrates(q, e)
	}
}

// migrates makes the virtual run time of an entity that moves to another processor relative to its queue's.
func (*cfs) migrates(q *runqueue, e *entity) {
	e.vruntime -= q.zero
	e.relative = true
}

func (f *cfs) shrunk(q *runqueue) { f.raise(q) }

func (*cfs) delays(*runqueue, *entity) bool { return false }

func (*cfs) undelayed(*runqueue, *entity) {}

func (*cfs) reweighed(*runqueue, *entity, float64) {}

// before says whether an entity is ahead of another: by more than the wake-up granularity (1), less (0), or not (-1).
func (f *cfs) before(current, e *entity) int {
	switch behind := current.vruntime - e.vruntime; {
	case behind <= 0:
		return -1
	case behind > virtual(f.wakeupGranularity, e):
		return 1
	}
	return 0
}

func (f *cfs) pick(q *runqueue) *entity {
	left := f.first(q)
	if e := q.current; e != nil && e.queued && (left == nil || e.vruntime < left.vruntime) {
		left = e
	}
	switch {
	case q.next != nil && f.before(q.next, left) < 1:
		return q.next
	case q.last != nil && f.before(q.last, left) < 1:
		return q.last
	}
	return left
}

func (*cfs) picked(*runqueue, *entity) {}

func (f *cfs) preempts(q *runqueue, woken *entity) bool {
	current := q.current
	if current == nil || f.before(current, woken) < 1 {
		return false
	}
	favour(woken)
	if current.thread != nil && current.queued && q.count >= manyThreads {
		for e := current; e != nil; e = e.queue.entity {
			e.queue.last = e
		}
	}
	return true
}

func (*cfs) prefers(q *runqueue, e *entity) bool { return q.next == e || q.last == e }
