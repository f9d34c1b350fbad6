package linuxsched

// fork lets a thread wait for a new one that computes. The new one is on an idle processor that shares the cache, if one is found.
func (s *simulation) fork(t *thread) {
	c := t.cpu
	child := &thread{
		pod: t.pod, cpu: c, recent: c, timer: c, parent: t, step: Step{Kind: Compute, Length: t.step.Length}, began: s.now,
		left: max(1, int64(t.step.Length+s.kernel.Costs.Fork)), state: waits, since: s.now,
	}
	child.entity = entity{queue: t.entity.queue, thread: child, weight: niceZero, average: average{load: 1}}
	t.child = child
	to := c
	if idle := c.cache.findIdle(c); idle != nil {
		to = idle
	}
	s.settle(to)
	s.transfer(child, to)
	s.enqueue(child, how{first: true, moved: true})
	s.checkPreemption(child)
	s.settle(c)
	t.state = forks
	c.running = nil
	s.dequeue(&t.entity, how{sleep: true})
	s.switchFrom(c, t)
}

// exit ends a thread that has been forked, and wakes the one that waits for it.
func (s *simulation) exit(t *thread) {
	c, parent := t.cpu, t.parent
	s.usage[t.pod].Bursts++
	s.credit(t)
	parent.child, parent.reaps, parent.timer = nil, true, c
	parent.left = max(1, int64(s.kernel.Costs.Switch))
	s.rouse(parent)
	s.settle(c)
	s.clocks.set(c.id, never)
	c.running = nil
	s.dequeue(&t.entity, how{sleep: true, atOnce: true})
	s.detach(t.entity.queue, &t.entity)
	s.contribute(t.entity.queue, true)
	s.switchFrom(c, t)
}
