package linuxsched

import (
	"slices"
	"time"
)

// cpu is a processor: rq.
type cpu struct {
	id      int
	root    *runqueue
	running *thread
	threads []*thread   // queued ones, those that ran last at the end
	loaded  []*runqueue // that have load
	cache   *cache
	inCache int // its index there
	domains []*domain

	pending     bool  // it is to be rescheduled
	idleSince   int64 // never while it has run something since
	averageIdle float64
	estimated   float64 // utilization by the threads that are queued
	nextBalance int64
}

// idle reports whether a processor has nothing to run, and will not have something at once.
func (c *cpu) idle() bool { return c.running == nil && c.root.threads == 0 }

func (c *cpu) load() float64 { return c.root.average.load }

func (c *cpu) forget(t *thread) {
	if i := slices.Index(c.threads, t); i >= 0 {
		c.threads = slices.Delete(c.threads, i, i+1)
	}
}

// reschedule makes a processor pick again what it runs.
func (s *simulation) reschedule(c *cpu) {
	if !c.pending {
		c.pending = true
		s.pending = append(s.pending, c)
	}
}

// checkPreemption reschedules the processor of a thread that has become runnable, if the thread is to run at once.
func (s *simulation) checkPreemption(t *thread) {
	c := t.cpu
	if c.pending || t.entity.queue.throttles > 0 {
		return
	}
	if c.running == nil {
		if c.root.count > 0 {
			s.reschedule(c)
		}
		return
	}
	woken, current := matching(&t.entity, &c.running.entity)
	s.update(current.queue)
	if s.class.preempts(current.queue, woken) {
		s.reschedule(c)
	}
}

// matching returns the entities of two threads, or of the groups around them, that are in the same queue.
func matching(a, b *entity) (*entity, *entity) {
	for depth(a) > depth(b) {
		a = a.queue.entity
	}
	for depth(b) > depth(a) {
		b = b.queue.entity
	}
	for a.queue != b.queue {
		a, b = a.queue.entity, b.queue.entity
	}
	return a, b
}

func depth(e *entity) int {
	n := 0
	for e = e.queue.entity; e != nil; e = e.queue.entity {
		n++
	}
	return n
}

// schedule picks what a processor runs.
func (s *simulation) schedule(c *cpu) {
	t := c.running
	if t == nil && c.root.count == 0 {
		return
	}
	s.pause(c)
	s.settle(c)
	if t != nil {
		t.state, t.since = waits, s.now
		c.running = nil
	}
	s.switchFrom(c, t)
}

// pause stops the clock of the burst that a processor runs.
func (s *simulation) pause(c *cpu) {
	t := c.running
	if t == nil {
		return
	}
	ran := s.now - t.started
	t.left -= ran
	t.started = s.now
	s.usage[t.pod].Run += time.Duration(s.now - t.since)
	t.since = s.now
	s.clocks.set(c.id, never)
}

// resume starts the clock of the burst that a processor runs.
func (s *simulation) resume(c *cpu) {
	t := c.running
	t.started = s.now
	s.clocks.set(c.id, s.now+max(1, t.left))
}

// burden makes what a processor runs take longer, by work of the kernel.
func (s *simulation) burden(c *cpu, cost time.Duration) {
	t := c.running
	t.left += int64(cost)
	s.clocks.set(c.id, t.started+max(1, t.left))
}

// switchFrom picks the next thread of a processor that has run one, or none, and lets it run.
func (s *simulation) switchFrom(c *cpu, previous *thread) {
	next := s.pick(c)
	if next == nil {
		s.putAll(previous)
		previous = nil
		if s.balanceNewlyIdle(c) {
			next = s.pick(c)
		}
	}
	c.pending = false
	if next == nil {
		return
	}
	if next != previous {
		s.change(previous, next)
		next.left += int64(s.kernel.Costs.Switch)
	}
	c.idleSince = never
	c.running = next
	next.state, next.since = runs, s.now
	c.forget(next)
	c.threads = append(c.threads, next)
	s.resume(c)
}

// pick returns the thread that a processor is to run, nil for none.
func (s *simulation) pick(c *cpu) *thread {
again:
	q := c.root
	if q.count == 0 {
		return nil
	}
	for {
		if q.current != nil && q.current.queued {
			s.update(q)
		}
		if s.exhausted(q) {
			goto again
		}
		e := s.class.pick(q)
		if e.delayed {
			s.dequeue(e, how{sleep: true, delayed: true})
			goto again
		}
		if e.thread != nil {
			return e.thread
		}
		q = e.own
	}
}

// change replaces what runs in the queues in which two threads differ, the first of which may be none.
func (s *simulation) change(previous, next *thread) {
	e := &next.entity
	if previous == nil {
		for ; e != nil; e = e.queue.entity {
			s.set(e)
		}
		return
	}
	p := &previous.entity
	for e.queue != p.queue {
		de, dp := depth(e), depth(p)
		if de <= dp {
			s.put(p)
			p = p.queue.entity
		}
		if de >= dp {
			s.set(e)
			e = e.queue.entity
		}
	}
	s.put(p)
	s.set(e)
}

// putAll takes a thread off its processor, which has nothing else to run.
func (s *simulation) putAll(previous *thread) {
	if previous == nil {
		return
	}
	for e := &previous.entity; e != nil; e = e.queue.entity {
		s.put(e)
	}
}

// put ends the run of an entity: put_prev_entity.
func (s *simulation) put(e *entity) {
	q := e.queue
	if e.queued {
		s.update(q)
	}
	s.exhausted(q)
	if e.queued {
		q.add(e)
		s.load(q, e)
	}
	q.current = nil
}

// set begins the run of an entity: set_next_entity.
func (s *simulation) set(e *entity) {
	q := e.queue
	q.forget(e)
	if e.queued {
		q.take(e)
		s.load(q, e)
		s.contribute(q, false)
		s.class.picked(q, e)
	}
	e.began = s.now
	q.current = e
	e.ranBefore = e.ran
}
