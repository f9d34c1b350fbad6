package linuxsched

// group is a control group at run time: task_group.
type group struct {
	weight  float64 // 1024 for 100
	parent  *group
	queues  []*runqueue // per processor
	load    float64     // sum of what its queues contributed
	limited *bandwidth  // nil without a quota
}

// bandwidth is the quota of a group: cfs_bandwidth.
type bandwidth struct {
	quota, period, burst int64 // ns
	runtime              int64 // that is left for processors to take
	refill               int   // slot of the period's end
	slack                int   // slot at which returned runtime is distributed
	throttled            []*runqueue
	refillAt             int64
	slackStarted         bool
}

// spend takes run time out of what a queue has of its group's quota, and asks for more.
func (s *simulation) spend(q *runqueue, ns int64) {
	if q.group == nil || q.group.limited == nil {
		return
	}
	q.remaining -= ns
	if q.remaining > 0 || q.throttled {
		return
	}
	if !q.assign(int64(bandwidthSlice)) && q.current != nil {
		s.reschedule(q.cpu)
	}
}

// assign takes runtime for a queue out of the quota, and reports whether it has some now.
func (q *runqueue) assign(target int64) bool {
	b := q.group.limited
	if b.runtime > 0 {
		amount := min(b.runtime, target-q.remaining)
		b.runtime -= amount
		q.remaining += amount
	}
	return q.remaining > 0
}

// exhausted reports whether a queue has no runtime, and throttles it then.
func (s *simulation) exhausted(q *runqueue) bool {
	if q.group == nil || q.group.limited == nil || q.remaining > 0 {
		return false
	}
	return q.throttled || s.throttle(q)
}

// throttleAtWakeup throttles a queue that gets its first thread while the quota is used up.
func (s *simulation) throttleAtWakeup(q *runqueue) {
	if q.group == nil || q.group.limited == nil || q.current != nil || q.throttled {
		return
	}
	s.spend(q, 0)
	if q.remaining <= 0 {
		s.throttle(q)
	}
}

// returnRuntime gives back most of what a queue has of the quota when its last thread has left.
func (s *simulation) returnRuntime(q *runqueue) {
	if q.group == nil || q.group.limited == nil {
		return
	}
	spare := q.remaining - int64(keptRuntime)
	if spare <= 0 {
		return
	}
	b := q.group.limited
	b.runtime += spare
	q.remaining -= spare
	if b.runtime > int64(bandwidthSlice) && len(b.throttled) > 0 && !b.slackStarted && b.refillAt-s.now >= int64(slackPeriod+leastRefresh) {
		b.slackStarted = true
		s.clocks.set(b.slack, s.now+int64(slackPeriod))
	}
}

// throttle stops a queue, and reports whether it had to.
func (s *simulation) throttle(q *runqueue) bool {
	if q.assign(1) {
		return false
	}
	s.settle(q.cpu)
	b := q.group.limited
	b.throttled = append(b.throttled, q)
	s.freeze(q)
	threads, runnable := q.threads, q.runnable
	e := q.entity
	for ; e != nil && e.queued; e = e.queue.entity {
		s.leave(e, how{sleep: true, atOnce: true, delayed: e.delayed})
		e.queue.threads -= threads
		e.queue.runnable -= runnable
		if e.queue.count > 0 {
			e = e.queue.entity
			break
		}
	}
	for ; e != nil && e.queued; e = e.queue.entity {
		s.load(e.queue, e)
		e.queue.threads -= threads
		e.queue.runnable -= runnable
	}
	q.throttled = true
	return true
}

// unthrottle lets a queue compete again.
func (s *simulation) unthrottle(q *runqueue) {
	s.settle(q.cpu)
	q.throttled = false
	s.thaw(q)
	if q.count == 0 {
		return
	}
	threads, runnable := q.threads, q.runnable
	e := q.entity
	for ; e != nil; e = e.queue.entity {
		if e.delayed {
			s.leave(e, how{sleep: true, delayed: true})
		} else if e.queued {
			break
		}
		s.join(e, how{sleep: true})
		e.queue.threads += threads
		e.queue.runnable += runnable
		if e.queue.throttled {
			return
		}
	}
	for ; e != nil; e = e.queue.entity {
		s.load(e.queue, e)
		e.queue.threads += threads
		e.queue.runnable += runnable
		if e.queue.throttled {
			return
		}
	}
	if q.cpu.root.threads >= 2 {
		s.overloaded = true
	}
	if q.cpu.running == nil && q.cpu.root.count > 0 {
		s.reschedule(q.cpu)
	}
}

// freeze stops the clocks of a queue and of those in it.
func (s *simulation) freeze(q *runqueue) {
	for _, inside := range s.inside(q) {
		if inside.throttles == 0 {
			inside.frozenSince = s.now
		}
		inside.throttles++
	}
}

func (s *simulation) thaw(q *runqueue) {
	for _, inside := range s.inside(q) {
		inside.throttles--
		if inside.throttles == 0 {
			inside.frozen += s.now - inside.frozenSince
		}
	}
}

// inside returns the queues of a group and of the groups in it, of one processor.
func (s *simulation) inside(q *runqueue) []*runqueue {
	s.scratch = s.scratch[:0]
	for _, g := range s.groups {
		for at := g; at != nil; at = at.parent {
			if at == q.group {
				s.scratch = append(s.scratch, g.queues[q.cpu.id])
				break
			}
		}
	}
	return s.scratch
}

// endPeriod refills a quota and lets throttled queues run.
func (s *simulation) endPeriod(b *bandwidth) {
	b.refillAt = s.now + b.period
	s.clocks.set(b.refill, b.refillAt)
	b.runtime = min(b.runtime+b.quota, b.quota+b.burst)
	s.distribute(b)
}

// endSlack distributes runtime that processors have returned.
func (s *simulation) endSlack(b *bandwidth) {
	s.clocks.set(b.slack, never)
	b.slackStarted = false
	if b.refillAt-s.now >= int64(leastRefresh) && b.runtime > int64(bandwidthSlice) {
		s.distribute(b)
	}
}

// distribute gives each throttled queue the runtime that it owes, and lets it run if that is enough.
func (s *simulation) distribute(b *bandwidth) {
	waiting := b.throttled
	b.throttled = nil
	for _, q := range waiting {
		amount := min(1-q.remaining, max(0, b.runtime))
		b.runtime -= amount
		q.remaining += amount
		if q.remaining <= 0 {
			b.throttled = append(b.throttled, q)
			continue
		}
		s.unthrottle(q)
	}
}
