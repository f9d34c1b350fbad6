package result

// This file corrects what a probe and an observer of a target beside it report for what
// is no contention between the two.

// UndisturbedNanos returns how long the containers took from the first start to the last
// exit, in nanoseconds, without the time in which a hypervisor kept the processors from
// the node and that in which they waited for the observer, which ran while they could have
// run. It is at least 1. The containers must have started and ended.
func (w Watch) UndisturbedNanos() int64 {
	return max(1, w.End-w.Begin-w.StolenNanos-int64(w.Ready()*float64(w.ObserverNanos)))
}

// ThreadNanos returns how long the threads of the containers ran, in nanoseconds; ok is
// false if that is not known of all of them.
func (w Watch) ThreadNanos() (nanos int64, ok bool) {
	return w.CPUNanos, w.Complete && w.CPUNanos != 0
}

// PaceBeside returns the [Run.Pace] of the job while the containers of some observers ran,
// one after the other, before a time, without what the observers took from it. ok is false
// if they ran too short a time to tell.
func (r Run) PaceBeside(watches []Watch, before int64) (perSecond float64, ok bool) {
	done, time := 0.0, 0.0
	for _, w := range watches {
		end := min(w.End, before)
		if pace, ok := r.PaceInside(w.Begin, end); ok && pace > 0 {
			done += r.unobserved(pace, w) * float64(end-w.Begin)
			time += float64(end - w.Begin)
		}
	}
	if time == 0 {
		return 0, false
	}
	return done / time, true
}

// unobserved returns what the pace of the job beside the containers of an observer would
// have been without the observer. While the containers were idle, the observer's CPU time
// came out of the job's, if that is one of the CPU; while they were not, both of them
// waited, which is time that would not have been.
func (r Run) unobserved(pace float64, w Watch) float64 {
	all, ok := r.UndisturbedPace()
	if !ok {
		return pace
	}
	observing, ready := float64(w.ObserverNanos)/float64(w.End-w.Begin), w.Ready()
	return (pace + all*observing*(1-ready)) / (1 - observing*ready)
}

// Computing returns the fraction of its time, at most 1, that each worker of the job runs
// on a processor while they do so many units per second together. ok is false if the job
// did none.
func (r Run) Computing(unitsPerSecond float64) (fraction float64, ok bool) {
	if r.Units == 0 {
		return 0, false
	}
	each := float64(r.CPUNanos) / 1e9 / float64(r.Units)
	return min(1, each*unitsPerSecond/float64(r.Intensity)), true
}
