package linuxsched

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

	child  *thread // that it has forked and waits for
	parent *thread // that waits for it
	reaps  bool    // its child has ended

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
	forks // its child is accounted for instead
)

// endBurst is the end of the burst that a processor runs.
func (s *simulation) endBurst(c *cpu) {
	t := c.running
	s.pause(c)
	switch {
	case t.parent != nil:
		s.exit(t)
		return
	case t.step.Kind == Fork && !t.reaps:
		s.fork(t)
		return
	case t.step.Kind == Compute:
		s.usage[t.pod].Bursts++
		s.credit(t)
	}
	t.reaps = false
	s.advance(t)
	if t.computes() {
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
	switch t.step.Kind {
	case Compute:
		t.left = max(1, int64(t.step.Length))
	case Fork:
		t.left = max(1, int64(s.kernel.Costs.Fork))
	case Sleep, Visit:
	}
}

// computes reports whether a thread's step needs a processor.
func (t *thread) computes() bool { return t.step.Kind == Compute || t.step.Kind == Fork }

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
	if !t.computes() {
		t.since = s.now
		s.start(t)
		return
	}
	s.rouse(t)
}

// rouse makes a thread runnable that was not.
func (s *simulation) rouse(t *thread) {
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
