package linuxsched

// selectCPU returns the processor on which a thread that wakes up is to run: select_task_rq_fair. The one whose timer or device
// woke it is the waker.
func selectCPU(t *thread, waker *cpu) *cpu {
	previous, target := t.cpu, t.cpu
	if waker != previous {
		target = affine(t, waker, previous)
	}
	switch {
	case target.idle():
		return target
	case previous != target && previous.cache == target.cache && previous.idle():
		return previous
	}
	recent := t.recent
	t.recent = previous
	if recent != previous && recent != target && recent.cache == target.cache && recent.idle() {
		return recent
	}
	if c := target.cache.findIdle(target); c != nil {
		return c
	}
	return target
}

// affine returns the waker or the previous processor, whichever is idle or has less load.
func affine(t *thread, waker, previous *cpu) *cpu {
	if waker.idle() && waker.cache == previous.cache {
		if previous.idle() {
			return previous
		}
		return waker
	}
	if previous.idle() {
		return previous
	}
	load := t.load()
	const bias = 1 + (imbalancePercent-100)/2/100.0 // for moving
	if waker.load()+load < bias*(previous.load()-load) {
		return waker
	}
	return previous
}

// cache is the processors that share a last-level cache.
type cache struct {
	cpus []*cpu
	scan int // how many of them are looked at for an idle one
}

// findIdle returns the first idle processor after one, of as many as are looked at.
func (l *cache) findIdle(after *cpu) *cpu {
	n := len(l.cpus)
	for i := range min(l.scan, n) {
		if c := l.cpus[(after.inCache+1+i)%n]; c.idle() {
			return c
		}
	}
	return nil
}

// limitScan sets how many processors are looked at: fewer the more they are used, none from 85 % on.
func (l *cache) limitScan(util float64) {
	n := float64(len(l.cpus))
	x := util / (n * capacity) * imbalancePercent / 100
	l.scan = int(n * (1 - min(1, x*x)))
}
