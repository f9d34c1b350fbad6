package reading

import (
	"cmp"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/gauge/fair"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// Between returns what happened on a node between two readings of it, for which [usage.Interval.Validate] returns nil if node
// is not empty; nil if less than a [usage.Instant] passed. The name of a pod is what name returns for its UID, if name is not nil. It keeps the
// pods, and the containers of each, that ran and waited longest where there are more than an interval may have.
func Between(before, after *Reading, node string, name func(uid string) (namespace, name string)) *usage.Interval {
	span := after.At.Sub(before.At)
	if span.Seconds() < usage.Instant {
		return nil
	}
	interval := &usage.Interval{
		Node:          node,
		Start:         before.At.Round(0).UTC(),
		End:           after.At.Round(0).UTC(),
		Seconds:       span.Seconds(),
		CgroupVersion: after.Version,
	}
	c := comparison{before: before, after: after, span: span.Seconds(), earlier: byID(before), later: byID(after)}
	pods := make(map[string]*Pod, len(before.Pods))
	for i := range before.Pods {
		pods[before.Pods[i].UID] = &before.Pods[i]
	}
	interval.Disks, interval.DisksLeftOut = c.disks()
	c.names = namesOf(interval.Disks, after)
	for i := range after.Pods {
		if pod := c.pod(pods[after.Pods[i].UID], &after.Pods[i]); pod.Tasks > 0 || pod.Run > 0 {
			interval.Pods = append(interval.Pods, pod)
		}
	}
	places := placed(before, after)
	interval.CPUs, interval.BusySeconds, interval.StolenSeconds = places.busyAndStolen(before, after)
	interval.ExclusiveCPUs = places.exclusive()
	byPressure := func(p usage.Pod) bool { return p.BlockedBy == usage.ByPressure }
	interval.BlockedUnknown = !after.BlockedKnown && !slices.ContainsFunc(interval.Pods, byPressure)
	interval.LeftOut = max(0, len(interval.Pods)-usage.MaxPods)
	interval.Pods = longest(interval.Pods, usage.MaxPods, func(p *usage.Pod) *usage.Times { return &p.Times })
	limitContainers(interval.Pods)
	slices.SortFunc(interval.Pods, func(a, b usage.Pod) int { return cmp.Compare(a.UID, b.UID) })
	for i := range interval.Pods {
		if name == nil {
			break
		}
		pod := &interval.Pods[i]
		pod.Namespace, pod.Name = name(pod.UID)
	}
	return interval
}

// longest returns the limit of them that ran and waited longest.
func longest[T any](all []T, limit int, times func(*T) *usage.Times) []T {
	if len(all) <= limit {
		return all
	}
	slices.SortStableFunc(all, func(a, b T) int {
		x, y := times(&a), times(&b)
		return cmp.Compare(y.Run+y.Wait, x.Run+x.Wait)
	})
	return slices.Clip(all[:limit])
}

// limitContainers limits the containers of pods to those that an interval may have, by max-min fairness.
func limitContainers(pods []usage.Pod) {
	counts := make([]int, len(pods))
	for i := range pods {
		counts[i] = len(pods[i].Containers)
	}
	level := fair.Level(usage.MaxAllContainers, counts)
	for i := range pods {
		limitContainersOf(&pods[i], level)
	}
}

// limitContainersOf reduces a pod to the limit of containers: those that ran and waited longest, in the order of their IDs.
func limitContainersOf(pod *usage.Pod, limit int) {
	pod.Containers = longest(pod.Containers, limit, func(c *usage.Container) *usage.Times { return &c.Times })
	slices.SortFunc(pod.Containers, func(a, b usage.Container) int { return cmp.Compare(a.ID, b.ID) })
}

// comparison is two readings that are being compared.
type comparison struct {
	before, after  *Reading
	span           float64 // seconds between them
	earlier, later map[int]*Task
	names          map[Number]string // of the disks of the interval
}

func byID(reading *Reading) map[int]*Task {
	tasks := map[int]*Task{}
	for i := range reading.Pods {
		for j := range reading.Pods[i].Groups {
			group := &reading.Pods[i].Groups[j]
			for k := range group.Tasks {
				tasks[group.Tasks[k].ID] = &group.Tasks[k]
			}
		}
	}
	return tasks
}

// grown returns by how many seconds a counter grew, 0 if that is unknown. One that went back began anew.
func grown(before, after time.Duration) float64 {
	switch {
	case before == Unknown || after == Unknown:
		return 0
	case after < before:
		return max(0, after).Seconds()
	}
	return (after - before).Seconds()
}

// pod compares a pod; before is nil if it was not there.
func (c *comparison) pod(before, after *Pod) usage.Pod {
	none := Pod{}
	pod := usage.Pod{UID: after.UID, Seconds: c.span}
	if before == nil {
		before = &none
		pod.Seconds = c.life(after)
	}
	groups, gone := c.groups(before, after)
	c.throttle(before, after, groups)
	blocked := c.block(before, after, groups, &pod)
	var items []item
	var ran, left float64 // left: throttled, and not tasks that were seen
	for i := range groups {
		group := &groups[i]
		times, more := group.times(c.span)
		add(&pod.Times, times)
		items = append(items, group.items...)
		ran += times.Run - times.Unseen
		left += more
		if group.id != "" {
			pod.Containers = append(pod.Containers, group.container(times))
		}
	}
	pod.Unseen = max(pod.Unseen, c.used(before.Usage, after.Usage)-ran)
	pod.Run = ran + pod.Unseen
	pod.Seconds = max(pod.Seconds, min(c.span, pod.Run/float64(max(1, c.after.CPUs))))
	pod.Blocked = max(pod.Blocked, blocked)
	pod.Tasks = len(items) + len(gone)
	if before.Pressure != Unknown && after.Pressure != Unknown {
		pod.PressureSeconds = new(grown(before.Pressure, after.Pressure))
	}
	pod.Disks = c.podDisks(before, after)
	limitContainersOf(&pod, usage.MaxContainers)
	stall, known := stalled(before, after, c.span)
	of := evidence{left: left, stalled: stall, polled: known}
	if pod.DiskPressure != nil {
		of.blocked, of.spread = bound(pod.DiskPressure.SomeSeconds, c.span), !c.after.BlockedKnown
	}
	rate(&pod, withUnseen(items, gone, &pod, of))
	return pod
}

// life returns how long a pod that was not there before has been, by the oldest of its tasks, in seconds.
func (c *comparison) life(pod *Pod) float64 {
	oldest := tick.Seconds()
	if len(pod.Groups) == 0 {
		return c.span
	}
	for _, group := range pod.Groups {
		for i := range group.Tasks {
			oldest = max(oldest, (c.after.Uptime + group.Tasks[i].Seen - group.Tasks[i].Start).Seconds())
		}
	}
	return min(oldest, c.span)
}

func add(to *usage.Times, times usage.Times) {
	to.Run += times.Run
	to.Unseen += times.Unseen
	to.Wait += times.Wait
	to.Throttled += times.Throttled
	to.Blocked += times.Blocked
}
