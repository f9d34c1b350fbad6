package reading

import (
	"math"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// item holds a task's times in an interval, in seconds. The rest of the interval it slept.
type item struct {
	there, run, wait, throttled, blocked float64

	// bursts is how often the task computed until it slept, at least 1; 0 where that is unknown.
	bursts float64

	id, parent int
	// came reports whether it began in the interval.
	came bool
	// cpus are the processors that it was last on at the two readings, and moves how often it went to another one in between.
	cpus  [2]int
	moves float64
}

// active returns for how long a task was not asleep, and own for how long of that it did not wait for a processor.
func (i *item) active() float64 { return i.own() + i.wait + i.throttled }
func (i *item) own() float64    { return i.run + i.blocked }

// change holds the activity of a group's tasks.
type change struct {
	id    string
	items []item
	// held is for how long limits held the group back, summed over processors, and used how long its tasks ran, seen or not.
	held, used float64
	// periods and throttledPeriods are those of its quota.
	periods, throttledPeriods int64
	quotaBurst                time.Duration
	// within reports whether held is without the limits around the group.
	within bool
}

// waited returns for how long the tasks waited that were seen.
func (c *change) waited() (waited float64) {
	for i := range c.items {
		waited += c.items[i].wait
	}
	return waited
}

// times returns the sums of a group in an interval of some seconds, and how much of what throttled it is not that of tasks seen.
func (c *change) times(seconds float64) (times usage.Times, left float64) {
	for i := range c.items {
		item := &c.items[i]
		times.Run += item.run
		times.Wait += item.wait
		times.Throttled += item.throttled
		times.Blocked += item.blocked
	}
	times.Unseen = max(0, c.used-times.Run)
	times.Run += times.Unseen
	if times.Unseen > 0 && times.Unseen >= unseenMatters*times.Run {
		room := math.Ceil(times.Unseen/seconds)*seconds - times.Unseen
		left = bound(c.held-times.Throttled, room)
		times.Throttled += left
	}
	return times, left
}

// container returns the usage of the container of the group, given its times. The kind of its tasks matters where a limit held
// them back, and is unknown where many of them came and went.
func (c *change) container(times usage.Times) usage.Container {
	container := usage.Container{
		ID: c.id, Times: times, Periods: c.periods, ThrottledPeriods: c.throttledPeriods, QuotaBurstSeconds: c.quotaBurst.Seconds(),
	}
	if times.Throttled > 0 && times.Unseen < unseenMatters*times.Run {
		r := rated(c.items)
		container.Threads, container.Dilation, container.CPULoading, container.BurstSeconds = r.threads, r.dilation, r.cpu, r.burst
	}
	return container
}

// groups compares the groups of a pod. Gone are the tasks that ended: only the account of their group has their activity.
func (c *comparison) groups(before, after *Pod) (groups []change, gone []*Task) {
	for i := range after.Groups {
		group := &after.Groups[i]
		earlier := &Group{}
		for j := range before.Groups {
			if before.Groups[j].ID == group.ID {
				earlier = &before.Groups[j]
			}
		}
		next := change{id: group.ID, held: grown(earlier.Held, group.Held), used: c.used(earlier.Usage, group.Usage), quotaBurst: group.QuotaBurst}
		next.periods = counted(earlier.Periods, group.Periods)
		next.throttledPeriods = min(next.periods, counted(earlier.ThrottledPeriods, group.ThrottledPeriods))
		if group.Held == Unknown {
			next.held, next.within = grown(earlier.Throttled, group.Throttled), true
		}
		for j := range group.Tasks {
			next.items = append(next.items, c.task(&group.Tasks[j]))
		}
		groups = append(groups, next)
	}
	for i := range before.Groups {
		for j := range before.Groups[i].Tasks {
			task := &before.Groups[i].Tasks[j]
			if now := c.later[task.ID]; now == nil || now.Start != task.Start {
				gone = append(gone, task)
			}
		}
	}
	return groups, gone
}

// counted returns by how much a count grew. One that went back began anew.
func counted(before, after int64) int64 {
	if after < before {
		return after
	}
	return after - before
}

// used returns the growth of a counter of tasks' running time: at most the time that all processors can have run.
func (c *comparison) used(before, after time.Duration) float64 {
	return bound(grown(before, after), float64(max(c.before.CPUs, c.after.CPUs, 1))*c.span)
}

// task compares a task with its earlier state, if there is one.
func (c *comparison) task(now *Task) item {
	i := item{there: c.span, id: now.ID, parent: now.Parent, cpus: [2]int{now.CPU, now.CPU}}
	switch was := c.earlier[now.ID]; {
	case was != nil && was.Start == now.Start:
		i.there = max(0, c.span+(now.Seen-was.Seen).Seconds())
		i.cpus[0] = was.CPU
		if now.Run < was.Run || now.Wait < was.Wait || now.Blocked < was.Blocked {
			was = &Task{}
		}
		i.run, i.wait, i.blocked = (now.Run - was.Run).Seconds(), (now.Wait - was.Wait).Seconds(), (now.Blocked - was.Blocked).Seconds()
	case now.Start >= c.before.Uptime:
		i.came = true
		i.there = min(c.span, max(tick, c.after.Uptime+now.Seen-now.Start).Seconds())
		i.run, i.wait, i.blocked = now.Run.Seconds(), now.Wait.Seconds(), now.Blocked.Seconds()
	default:
		// It is older than the interval and was elsewhere: the account of its group gives the part of its times that is from this
		// interval.
	}
	i.bursts, i.moves = c.bursts(now), c.moves(now)
	i.run = bound(i.run, i.there)
	i.wait = bound(i.wait, 2*i.there) // a wait that ends in an interval may have begun in the one before
	i.blocked = bound(i.blocked, i.there-i.run)
	return i
}

// bursts returns how often a task computed until it slept. One that did not sleep is in the midst of a burst.
func (c *comparison) bursts(now *Task) float64 {
	before := int64(0)
	if was := c.earlier[now.ID]; was != nil && was.Start == now.Start {
		before = was.Sleeps
	} else if now.Start < c.before.Uptime {
		return 0
	}
	if before == Uncounted || now.Sleeps == Uncounted {
		return 0
	}
	return max(1, float64(counted(before, now.Sleeps)))
}

// moves returns how often a task went to another processor; as often as shows where the kernel does not count it.
func (c *comparison) moves(now *Task) float64 {
	was := c.earlier[now.ID]
	switch known := was != nil && was.Start == now.Start; {
	case known && was.Moves != Uncounted && now.Moves != Uncounted:
		return float64(counted(was.Moves, now.Moves))
	case known && was.CPU != now.CPU:
		return 1
	case !known && now.Start >= c.before.Uptime:
		return max(0, float64(now.Moves))
	}
	return 0
}

// bound returns a value within 0 and a limit, 0 if the limit is below it.
func bound(value, limit float64) float64 { return max(0, min(value, limit)) }
