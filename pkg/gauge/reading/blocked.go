package reading

import (
	"cmp"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// block sets what a pod waited for disks and for memory by the pressure stall information, and by which account Blocked is. Where
// the kernel accounts no task's block I/O, it spreads the pressure of disks over the tasks, and returns it.
//
// That pressure is for how long some task was blocked. Of tasks that are blocked at the same time it counts one, so it is taken
// for as few tasks as can have been blocked that long, as unseen tasks are: first the one that slept most often, up to the time for
// which it neither ran nor waited for a processor, then the next. A task sleeps once for each operation that it waits for. The kernel
// shows the mean over processors, weighted by how long each had a task of the pod that did not sleep: see [spreadPressure], which undoes
// that. For a pod with n tasks that are blocked all the time it is an n-th of what the account of the tasks would be, and Threads 1
// where it would be n.
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
		pod.BlockedBy = usage.ByPressure
		return spreadPressure(bound(pod.DiskPressure.SomeSeconds, c.span), c.span, groups)
	}
	return spreadPressure(0, c.span, groups)
}

// pressureWindow is over how many seconds the kernel takes the mean of the pressure over processors.
const pressureWindow = 2

// spreadPressure spreads over the tasks for how long some task of the pod was blocked, and returns that, given what the kernel shows of it in an
// interval of some seconds.
//
// That is the mean over processors of the pressure at each, weighted by how long each had a task that did not sleep. So it shows B seconds for
// which tasks were blocked as Σ b·n / Σ n, with b of them and n seconds of such tasks at each processor: as half of them for a task that
// alternates between two, and as an eighth beside seven others that compute elsewhere. Where each task was is known by the processors that it was last on,
// and by how often it moved within the kernel's window: one that moved is taken to have been on two processors, since on how many does not show.
// Tasks that alternate between more of them were blocked for longer.
func spreadPressure(shown, seconds float64, groups []change) (blocked float64) {
	const rounds, precision = 20, 1e-3
	items := sleepers(groups)
	blocked = shown
	for range rounds {
		spread(blocked, items)
		before := blocked
		blocked = bound(shown*shownBy(items, seconds), seconds)
		if math.Abs(blocked-before) <= precision*before {
			break
		}
	}
	spread(blocked, items)
	return blocked
}

// shownBy returns how many times longer tasks were blocked than the kernel shows, given for how long each was; 1 where none was, or can have been.
func shownBy(items []*item, seconds float64) float64 {
	busy := map[int]float64{}
	var all, blocked, weighted float64
	for _, task := range items {
		active := task.own() + task.wait
		all, blocked = all+active, blocked+task.blocked
		for processor, part := range task.places(seconds) {
			busy[processor] += part * active
		}
	}
	for _, task := range items {
		for processor, part := range task.places(seconds) {
			weighted += part * task.blocked * busy[processor]
		}
	}
	if weighted <= 0 {
		return 1
	}
	return all * (blocked / weighted)
}

// elsewhere is a processor of which only is known that it is another one.
const elsewhere = -1

// places calls yield with the processors where a task was in an interval of some seconds, and which part of its time.
func (i *item) places(seconds float64) func(yield func(int, float64) bool) {
	moves := i.moves * min(1, pressureWindow/seconds)
	away := moves / (1 + moves) / 2
	other := i.cpus[0]
	if other == i.cpus[1] {
		other = elsewhere
	}
	return func(yield func(int, float64) bool) {
		_ = yield(i.cpus[1], 1-away) && yield(other, away)
	}
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

// sleepers returns all tasks, those that slept most often first.
func sleepers(groups []change) []*item {
	var items []*item
	for i := range groups {
		for k := range groups[i].items {
			items = append(items, &groups[i].items[k])
		}
	}
	slices.SortStableFunc(items, func(a, b *item) int { return cmp.Or(cmp.Compare(b.bursts, a.bursts), cmp.Compare(b.room(), a.room())) })
	return items
}

// spread sets for how long tasks were blocked, if some task was for some seconds: the first ones as long as they can have been.
func spread(blocked float64, items []*item) {
	for _, task := range items {
		task.blocked = min(task.room(), blocked)
		blocked -= task.blocked
	}
}

// room returns for how long a task neither ran nor waited for a processor.
func (i *item) room() float64 { return max(0, i.there-i.run-i.wait-i.throttled) }
