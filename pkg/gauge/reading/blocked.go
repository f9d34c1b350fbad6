package reading

import (
	"cmp"
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// block sets what a pod waited for disks and for memory by the pressure stall information, and by which account Blocked is. Where
// the kernel accounts no task's block I/O, it spreads the pressure of disks over the tasks, and returns it.
//
// That pressure is for how long some task was blocked. Of tasks that are blocked at the same time it counts one, so it is taken
// for as few tasks as can have been blocked that long, as unseen tasks are: first the one that slept most often, up to the time for
// which it neither ran nor waited for a processor, then the next. A task sleeps once for each operation that it waits for. For a pod
// with one task that uses disks that is exact as long as the task stays on its processor, and no other task of the pod is busy on another: the
// kernel shows the mean over processors, weighted by how long each had a task of the group that did not sleep, so that the time is
// too low of a task that changes processors within two seconds, and beside one that computes, by up to half for two
// processors. On two processors of Linux 6.18, running, waiting and this time of a task that did nothing but read came to 100.5 % of
// the time where it was bound to a processor, and to 94 to 101 % where it was not. For a pod with n tasks that are blocked all the time it is an n-th of what
// the account of the tasks would be, and Threads 1 where it would be n.
//
// Dilation is of each task as before, since the time without waiting has the blocked time in it, known or not; its mean over the
// tasks, and those of CPULoading and DiskLoading, have the blocked time in the weights. Without pressure nothing changes.
func (c *comparison) block(before, after *Pod, groups []change, pod *usage.Pod) (blocked float64) {
	if p := pressed(before.MemoryPressure, after.MemoryPressure, before.UID == ""); p != nil {
		pod.MemoryPressureSeconds = &p.SomeSeconds
	}
	pod.DiskPressure = pressed(before.DiskPressure, after.DiskPressure, before.UID == "")
	if c.after.BlockedKnown {
		return 0
	}
	pod.BlockedBy = usage.ByNothing
	if pod.DiskPressure != nil {
		pod.BlockedBy, blocked = usage.ByPressure, bound(pod.DiskPressure.SomeSeconds, c.span)
	}
	spread(blocked, groups)
	return blocked
}

// pressed returns by how much pressure grew, nil where it is unknown. That of a pod that came began at 0.
func pressed(before, after *Pressure, came bool) *usage.DiskPressure {
	if before == nil && came {
		before = &Pressure{}
	}
	if before == nil || after == nil {
		return nil
	}
	some := grown(before.Some, after.Some)
	return &usage.DiskPressure{SomeSeconds: some, FullSeconds: bound(grown(before.Full, after.Full), some)}
}

// spread sets for how long tasks were blocked, if some task was for some seconds.
func spread(blocked float64, groups []change) {
	var items []*item
	for i := range groups {
		for k := range groups[i].items {
			task := &groups[i].items[k]
			task.blocked = 0
			items = append(items, task)
		}
	}
	if blocked <= 0 {
		return
	}
	slices.SortStableFunc(items, func(a, b *item) int { return cmp.Or(cmp.Compare(b.bursts, a.bursts), cmp.Compare(b.room(), a.room())) })
	for _, task := range items {
		task.blocked = min(task.room(), blocked)
		blocked -= task.blocked
	}
}

// room returns for how long a task neither ran nor waited for a processor.
func (i *item) room() float64 { return max(0, i.there-i.run-i.wait-i.throttled) }
