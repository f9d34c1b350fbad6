package linuxsched

import "math"

// average holds exponentially decaying averages, with a half-life of about 32 ms: the kernel's per-entity load tracking.
// Of an entity, load and util are fractions of time, of a run queue they are in units of 1024.
type average struct {
	load     float64 // queued; of a queue, times weight
	util     float64 // running
	runnable float64 // number of threads that are runnable
	at       int64   // by the queue's clock
}

// follow lets averages decay towards the present values.
func (a *average) follow(clock int64, load, util, runnable float64) {
	if clock == a.at {
		return
	}
	f := halved(float64(clock-a.at) / float64(halfLife))
	a.at = clock
	a.load = load + (a.load-load)*f
	a.util = util + (a.util-util)*f
	a.runnable = runnable + (a.runnable-runnable)*f
}

// halved returns 2^-x of x at least 0, to within 2e-7.
func halved(x float64) float64 {
	const many = 50
	if x >= many {
		return 0
	}
	whole := int(x)
	t := (0.5 + float64(whole) - x) * math.Ln2 // Taylor's series around 1/2
	return math.Sqrt2 / 2 * (1 + t*(1+t/2*(1+t/3*(1+t/4*(1+t/5*(1+t/6)))))) / float64(uint64(1)<<whole)
}

// load brings the averages of an entity and of its queue up to date.
func (s *simulation) load(q *runqueue, e *entity) {
	clock := q.clock(s.now)
	queued, running, runnable := 0.0, 0.0, 0.0
	if e.queued {
		queued = 1
		runnable = 1
		if e.own != nil {
			runnable = float64(e.own.runnable)
		} else if e.delayed {
			runnable = 0
		}
		if q.current == e {
			running = 1
		}
	}
	e.average.follow(clock, queued, running, runnable)
	q.load(clock)
}

func (q *runqueue) load(clock int64) {
	running := 0.0
	if q.current != nil && q.current.queued {
		running = capacity
	}
	q.average.follow(clock, q.weight, running, capacity*float64(q.runnable))
}

// contribute adds what has changed of a queue's load to the load of its group.
func (s *simulation) contribute(q *runqueue, always bool) {
	if q.group == nil || !always && s.now-q.updatedLoad < int64(s.kernel.GroupLoadRate) {
		return
	}
	delta := q.average.load - q.contributed
	if math.Abs(delta) > q.contributed/64 {
		q.group.load += delta
		q.contributed, q.updatedLoad = q.average.load, s.now
	}
}

// share sets the weight of a group on a processor: its part of the group's weight by its part of the group's load, whichever is
// higher of the load now and its average.
func (s *simulation) share(e *entity) {
	q := e.own
	if q == nil || q.weight == 0 || q.throttles > 0 {
		return
	}
	weight := q.group.weight
	if len(s.cpus) > 1 {
		load := max(q.weight, q.average.load)
		weight *= load / (q.group.load - q.contributed + load)
		weight = min(max(weight, minShares/niceZero), q.group.weight)
	}
	if weight == e.weight {
		return
	}
	if e.queued {
		s.update(e.queue)
		s.class.reweighed(e.queue, e, weight)
		e.queue.weight += weight - e.weight
	} else {
		e.lag *= e.weight / weight
	}
	e.queue.average.load += (weight - e.weight) * e.average.load
	e.weight = weight
}

// attach adds the averages of an entity to a queue to which it has moved.
func (s *simulation) attach(q *runqueue, e *entity) {
	q.average.load += e.weight * e.average.load
	q.average.util += capacity * e.average.util
	q.average.runnable += capacity * e.average.runnable
	s.propagate(q, e.average.load)
}

// detach subtracts the averages of an entity from the queue that it leaves for another processor.
func (s *simulation) detach(q *runqueue, e *entity) {
	q.average.load = max(0, q.average.load-e.weight*e.average.load)
	q.average.util = max(0, q.average.util-capacity*e.average.util)
	q.average.runnable = max(0, q.average.runnable-capacity*e.average.runnable)
	s.propagate(q, -e.average.load)
}

// propagate hands what a thread that moved has changed of a queue's averages to the groups around it.
func (s *simulation) propagate(q *runqueue, change float64) {
	for ; q.entity != nil; q = q.entity.queue {
		e, parent := q.entity, q.entity.queue
		s.load(parent, e)
		util, runnable := q.average.util/capacity, q.average.runnable/capacity
		parent.average.util = max(0, parent.average.util+capacity*(util-e.average.util))
		parent.average.runnable = max(0, parent.average.runnable+capacity*(runnable-e.average.runnable))
		e.average.util, e.average.runnable = util, runnable
		load := min(1, e.average.load+change)
		if change < 0 { // what is left is as many threads' load as their weights say
			load = 0
			if q.weight > 0 {
				load = min(e.average.load, q.average.load/q.weight)
			}
			load = max(load, min(1, util))
		}
		parent.average.load = max(0, parent.average.load+e.weight*(load-e.average.load))
		e.average.load = load
		s.contribute(parent, true)
	}
}

// util returns the utilization of a processor: its average, or what it was of the threads that are queued there when they last went to
// sleep, whichever is higher.
func (c *cpu) util() float64 { return min(capacity, max(c.root.average.util, c.estimated)) }

// estimate takes a thread's utilization at the end of a burst into its estimate.
func (t *thread) estimate() {
	const margin, weight = 0.01, 4
	a := &t.entity.average
	switch above := t.estimated - a.util; {
	case above <= 0:
		t.estimated = a.util
	case above >= margin && a.util+margin >= a.runnable:
		t.estimated -= above / weight
	}
}

// list marks a queue as one that has load.
func (q *runqueue) list() {
	if !q.listed {
		q.listed = true
		q.cpu.loaded = append(q.cpu.loaded, q)
	}
}

// decay brings the averages of all queues of a processor up to date, idle ones too.
func (s *simulation) decay(c *cpu) {
	const negligible = 1
	kept := c.loaded[:0]
	for _, q := range c.loaded {
		q.load(q.clock(s.now))
		s.contribute(q, false)
		if q.entity != nil && q.throttles == 0 {
			s.load(q.entity.queue, q.entity)
		}
		if q.count == 0 && q.average.load < negligible && q.average.util < negligible {
			q.listed = false
			if q.group != nil {
				q.group.load -= q.contributed
				q.contributed = 0
			}
			continue
		}
		kept = append(kept, q)
	}
	c.loaded = kept
	c.root.load(s.now)
}

// load returns the part of its processor's load that is a thread's.
func (t *thread) load() float64 {
	e := &t.entity
	load := e.weight * e.average.load
	for q := e.queue; q.entity != nil; q = q.entity.queue {
		load *= q.entity.weight * q.entity.average.load / (q.average.load + 1)
	}
	return load
}
