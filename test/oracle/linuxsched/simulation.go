package linuxsched

import (
	"math/rand/v2"
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

// thread is a thread of a pod.
type thread struct {
	entity  entity
	pod     int
	index   int // its slot
	cpu     *cpu
	recent  *cpu // the one on which it ran before
	timer   *cpu // the one that wakes it
	program Program
	fresh   bool // it has not been runnable yet

	step      Step
	began     int64   // when the step began
	left      int64   // ns of a burst, with what the kernel added
	estimated float64 // utilization of a processor by it, from 0 to 1
	started   int64   // since when it runs

	state   activity
	since   int64 // when its state was last accounted for
	counted int64 // ns of the present step that are in its pod's Own
}

// activity is what a thread does as accounting sees it.
type activity int

const (
	sleeps activity = iota
	waits
	runs
	visits
)

type simulation struct {
	machine Machine
	kernel  Kernel
	class   class
	tick    int64 // ns

	now        int64
	clocks     *clocks
	cpus       []*cpu
	caches     []*cache
	groups     []*group
	limited    []*bandwidth
	stations   []*station
	threads    []*thread
	pods       []Pod
	random     *rand.Rand
	overloaded bool
	pending    []*cpu // to be rescheduled
	scratch    []*runqueue
	decayed    int64

	usage  []Usage
	blame  [][]time.Duration
	events int
}

// run simulates until a time.
func (s *simulation) run(until int64) {
	for {
		slot, at := s.clocks.first()
		if at > until {
			s.now = until
			return
		}
		s.now = at
		s.events++
		s.happen(slot)
		for i := 0; i < len(s.pending); i++ {
			if c := s.pending[i]; c.pending {
				c.pending = false
				s.schedule(c)
			}
		}
		s.pending = s.pending[:0]
	}
}

// happen handles the event of a slot. Slots are the processors' ends of bursts, the threads' timers, the tick, two for each quota,
// and the stations.
func (s *simulation) happen(slot int) {
	cpus, threads, limited := len(s.cpus), len(s.threads), len(s.limited)
	switch {
	case slot < cpus:
		s.endBurst(s.cpus[slot])
	case slot < cpus+threads:
		s.clocks.set(slot, never)
		s.wake(s.threads[slot-cpus])
	case slot == cpus+threads:
		s.clocks.set(slot, s.now+s.tick)
		s.onTick()
	case slot < cpus+threads+1+2*limited:
		i := slot - (cpus + threads + 1)
		if i%2 == 0 {
			s.endPeriod(s.limited[i/2])
		} else {
			s.endSlack(s.limited[i/2])
		}
	default:
		s.stations[slot-(cpus+threads+1+2*limited)].complete(s)
	}
}

// reschedule makes a processor pick again what it runs.
func (s *simulation) reschedule(c *cpu) {
	if !c.pending {
		c.pending = true
		s.pending = append(s.pending, c)
	}
}

// endBurst is the end of the burst that a processor runs.
func (s *simulation) endBurst(c *cpu) {
	t := c.running
	s.pause(c)
	s.usage[t.pod].Bursts++
	s.credit(t)
	s.advance(t)
	if t.step.Kind == Compute {
		s.resume(c)
		return
	}
	s.settle(c)
	t.timer = c
	s.start(t)
	c.running = nil
	s.dequeue(&t.entity, how{sleep: true})
	s.switchFrom(c, t)
}

// advance takes the next step of a thread's program.
func (s *simulation) advance(t *thread) {
	t.step = t.program.Next()
	t.began, t.counted = s.now, 0
	if t.step.Kind == Compute {
		t.left = max(1, int64(t.step.Length))
	}
}

// start begins the sleep or the visit that is a thread's step.
func (s *simulation) start(t *thread) {
	if t.step.Kind == Visit {
		t.state = visits
		s.stations[t.step.Station].arrive(s, t)
		return
	}
	t.state = sleeps
	s.clocks.set(len(s.cpus)+t.index, s.now+max(1, int64(t.step.Length+s.kernel.Costs.Slack)))
}

// wake ends a sleep or a visit of a thread.
func (s *simulation) wake(t *thread) {
	s.credit(t)
	s.advance(t)
	if t.step.Kind != Compute {
		t.since = s.now
		s.start(t)
		return
	}
	if t.timer.running != nil {
		s.burden(t.timer, s.kernel.Costs.Wake)
	}
	if t.entity.delayed {
		s.settle(t.cpu)
		t.state, t.since = waits, s.now
		s.enqueue(t, how{sleep: true})
		s.checkPreemption(t)
		return
	}
	h := how{sleep: true, first: t.fresh, moved: t.fresh}
	if to := selectCPU(t, t.timer); to != t.cpu {
		if q := t.entity.queue; !t.fresh {
			s.load(q, &t.entity)
			s.class.migrates(q, &t.entity)
			s.detach(q, &t.entity)
			s.contribute(q, true)
		}
		s.transfer(t, to)
		h.moved = true
	}
	t.fresh = false
	c := t.cpu
	s.settle(c)
	t.state, t.since = waits, s.now
	if c.running == nil {
		t.left += int64(s.kernel.Costs.Idle)
	}
	s.enqueue(t, h)
	s.checkPreemption(t)
	if c.idleSince != never {
		idle := float64(s.now - c.idleSince)
		c.averageIdle = min(c.averageIdle+(idle-c.averageIdle)/8, 2*float64(migrationCost))
		c.idleSince = never
	}
}

// transfer makes a processor the one of a thread that is not queued.
func (s *simulation) transfer(t *thread, to *cpu) {
	t.cpu = to
	q := to.root
	if g := t.entity.queue.group; g != nil {
		q = g.queues[to.id]
	}
	t.entity.queue = q
	t.entity.average.at = q.clock(s.now)
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

// onTick is the tick of all processors. Idle ones have none.
func (s *simulation) onTick() {
	for _, c := range s.cpus {
		t := c.running
		if t == nil {
			continue
		}
		s.burden(c, s.kernel.Costs.Tick)
		for e := &t.entity; e != nil; e = e.queue.entity {
			s.update(e.queue)
			s.refresh(e)
			if s.class.ticked(s, e.queue, e) {
				s.reschedule(c)
			}
		}
	}
	if len(s.cpus) == 1 {
		return
	}
	for _, c := range s.cpus {
		if c.running != nil {
			s.balanceTick(c, busy)
		}
	}
	s.balanceIdle()
	if s.now-s.decayed >= int64(halfLife) {
		s.decayed = s.now
		for _, c := range s.cpus {
			s.decay(c)
		}
	}
}
