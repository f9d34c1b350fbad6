package linuxsched

import "slices"

// entity is what a run queue schedules: a thread, or a group's run queue of the same processor.
type entity struct {
	queue  *runqueue // in which it is, or would be
	own    *runqueue // of a group, nil of a thread
	thread *thread   // nil of a group

	weight  float64
	queued  bool // including while it runs
	delayed bool // queued, but asleep until its lag is used up

	vruntime, deadline, lag float64 // virtual ns
	relative                bool    // the deadline is relative to vruntime, while it migrates
	protected               float64 // the virtual time until which it is not preempted, since it was picked

	began          int64   // when its run time was last accounted for
	ran, ranBefore float64 // ns, now and when it was picked

	average average
}

// runqueue is one of a group on a processor, or of a processor itself: cfs_rq.
type runqueue struct {
	cpu    *cpu
	group  *group  // nil of a processor itself
	entity *entity // its own in the parent's queue, nil of a processor itself

	current    *entity   // the one that runs, not in waiting
	waiting    []*entity // in the order in which they came
	next, last *entity   // buddies
	weight     float64   // of all that are queued
	count      int       // of all that are queued

	threads  int // in it and below, without those in throttled groups
	runnable int // of these, the ones that are not delayed

	zero float64 // virtual time: about the average under EEVDF, the least under CFS

	average     average
	contributed float64 // to the group's load
	updatedLoad int64   // when
	listed      bool    // among the processor's queues that have load

	remaining   int64 // ns of the quota that the processor has taken
	throttled   bool  // itself
	throttles   int   // how many of itself and the groups around it are throttled
	frozen      int64 // for how long it was throttled so far
	frozenSince int64
}

// clock is the time by which averages of loads decay. It stands still while the queue is throttled.
func (q *runqueue) clock(now int64) int64 {
	if q.throttles > 0 {
		now = q.frozenSince
	}
	return now - q.frozen
}

// add puts a queued entity that does not run among those that wait.
func (q *runqueue) add(e *entity) { q.waiting = append(q.waiting, e) }

// take removes an entity from those that wait.
func (q *runqueue) take(e *entity) {
	i := slices.Index(q.waiting, e)
	q.waiting = slices.Delete(q.waiting, i, i+1)
}

// forget clears buddies that are an entity.
func (q *runqueue) forget(e *entity) {
	if q.next == e {
		q.next = nil
	}
	if q.last == e {
		q.last = nil
	}
}

// favour makes an entity, and the groups around it, the ones that are picked next where that is not unfair.
func favour(e *entity) {
	for ; e != nil && e.queued; e = e.queue.entity {
		e.queue.next = e
	}
}

// update accounts for the run time of what runs in a queue.
func (s *simulation) update(q *runqueue) {
	e := q.current
	if e == nil {
		return
	}
	delta := s.now - e.began
	if delta <= 0 {
		return
	}
	e.began = s.now
	e.ran += float64(delta)
	e.vruntime += float64(delta) * niceZero / e.weight
	ended := s.class.advanced(q, e)
	s.spend(q, delta)
	if ended && q.count > 1 {
		s.reschedule(q.cpu)
		q.forget(e)
	}
}

// how says why an entity joins or leaves a queue.
type how struct {
	sleep   bool // it wakes up, or goes to sleep
	moved   bool // from another processor, or to one
	first   bool // it was never queued
	atOnce  bool // it leaves without delay: its group is throttled
	delayed bool // it leaves after a delay
}

// join puts an entity into its queue.
func (s *simulation) join(e *entity, h how) {
	q := e.queue
	s.update(q)
	s.load(q, e)
	if h.moved {
		s.attach(q, e)
	}
	s.contribute(q, h.moved)
	s.share(e)
	s.class.place(q, e, h)
	q.weight += e.weight
	q.count++
	e.queued = true
	if q.current != e {
		q.add(e)
	}
	if q.count == 1 {
		q.list()
		s.throttleAtWakeup(q)
	}
}

// leave removes an entity from its queue, and reports whether it did: under EEVDF what sleeps with negative lag stays.
func (s *simulation) leave(e *entity, h how) bool {
	q := e.queue
	s.update(q)
	q.forget(e)
	if h.sleep && !h.atOnce && !h.delayed && s.class.delays(q, e) {
		s.load(q, e)
		e.delayed = true
		if e.thread != nil {
			for r := q; r != nil; r = r.parent() {
				r.runnable--
				if r.throttled {
					break
				}
			}
		}
		return false
	}
	s.load(q, e)
	s.class.removed(q, e, h)
	if q.current != e {
		q.take(e)
	}
	e.queued = false
	q.weight -= e.weight
	q.count--
	if q.count == 0 {
		q.weight = 0 // whatever rounding left
	}
	s.class.shrunk(q)
	if h.moved {
		s.detach(q, e)
	}
	s.contribute(q, h.moved)
	if q.count == 0 {
		s.returnRuntime(q)
	}
	s.share(e)
	if h.delayed {
		e.delayed = false
		e.lag = min(e.lag, 0)
	}
	return true
}

// parent returns the queue in which a queue's entity is.
func (q *runqueue) parent() *runqueue {
	if q.entity == nil {
		return nil
	}
	return q.entity.queue
}

// enqueue makes a thread runnable on its processor.
func (s *simulation) enqueue(t *thread, h how) {
	e := &t.entity
	if e.delayed && h.sleep {
		t.cpu.estimated += capacity * t.estimated
		s.undelay(e)
		return
	}
	runnable := 1
	if e.delayed {
		runnable = 0
	}
	t.cpu.threads = append(t.cpu.threads, t)
	if !e.delayed {
		t.cpu.estimated += capacity * t.estimated
	}
	if h.moved {
		e.began = -int64(migrationCost) // its cache is cold
	}
	at := e
	for ; at != nil && !at.queued; at = at.queue.entity {
		s.join(at, h)
		at.queue.threads++
		at.queue.runnable += runnable
		if at.queue.throttled {
			return
		}
		h = how{sleep: true}
	}
	if at != nil && at.delayed {
		s.undelay(at)
	}
	for ; at != nil; at = at.queue.entity {
		s.refresh(at)
		at.queue.threads++
		at.queue.runnable += runnable
		if at.queue.throttled {
			return
		}
	}
	if t.cpu.root.threads >= 2 {
		s.overloaded = true
	}
}

// refresh brings the load averages and the weight of an entity that stays queued up to date.
func (s *simulation) refresh(e *entity) {
	s.load(e.queue, e)
	s.contribute(e.queue, false)
	s.share(e)
}

// undelay makes an entity compete again that has gone to sleep but is still queued.
func (s *simulation) undelay(e *entity) {
	s.update(e.queue)
	s.class.undelayed(e.queue, e)
	s.load(e.queue, e)
	e.delayed = false
	if e.thread != nil {
		for q := e.queue; q != nil; q = q.parent() {
			q.runnable++
			if q.throttled {
				return
			}
		}
	}
}

// dequeue removes a thread, or a group whose delay is over, from its processor, unless that is delayed.
func (s *simulation) dequeue(e *entity, h how) {
	threads, runnable := 0, 0
	if t := e.thread; t != nil {
		threads = 1
		if !e.delayed {
			t.cpu.estimated = max(0, t.cpu.estimated-capacity*t.estimated)
			if h.sleep {
				t.estimate()
			}
		}
		if !e.delayed {
			runnable = 1
		}
	}
	at, t := e, e.thread
	for at != nil {
		q := at.queue
		if !s.leave(at, h) {
			if at == e {
				return
			}
			break
		}
		q.threads -= threads
		q.runnable -= runnable
		if at.thread != nil {
			t.cpu.forget(t)
		}
		if q.throttled {
			return
		}
		if q.count > 0 {
			at = q.entity
			if h.sleep && at != nil && q.throttles == 0 {
				favour(at)
			}
			break
		}
		h = how{sleep: true}
		at = q.entity
	}
	for ; at != nil; at = at.queue.entity {
		s.refresh(at)
		at.queue.threads -= threads
		at.queue.runnable -= runnable
		if at.queue.throttled {
			return
		}
	}
}
