package reading

import (
	"math"
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// unseenMatters is what fraction of a pod's running must be unseen for more to be made of it than a sum.
const unseenMatters = 0.1

// evidence holds the measures of the waiting of unseen tasks.
type evidence struct {
	// left is for how long limits held the pod back besides the tasks that were seen.
	left float64
	// stalled is for how long all tasks of the containers concerned waited that could run, if that was polled.
	stalled float64
	polled  bool
	// blocked is for how long some task of the pod was blocked at disks, by its pressure, and spread whether the blocked time of the tasks that were
	// seen is only what was spread over them of that.
	blocked float64
	spread  bool
}

// withUnseen returns the activity of the tasks of a pod, taking those that came or went for the least possible number that
// always existed. Of the tasks that are gone only the parents matter.
func withUnseen(items []item, gone []*Task, pod *usage.Pod, of evidence) []item {
	if pod.Unseen < unseenMatters*pod.Run || pod.Unseen == 0 {
		return items
	}
	if of.spread { // which task was blocked does not show: those are taken for it that came and went
		items = slices.Clone(items)
		for i := range items {
			items[i].blocked = 0
		}
	}
	stayed, met, parents := families(items, gone)
	chain := item{there: pod.Seconds, run: pod.Unseen}
	lanes := max(1, math.Ceil((chain.run+met.active())/pod.Seconds-0.05))
	room := lanes * pod.Seconds
	polled := of.polled && busyBesides(stayed, parents) < unseenMatters*pod.Unseen
	if !polled {
		chain.throttled = bound(unseenWaiting(items, gone, pod, of.left), room-chain.run-met.active())
	}
	chain.join(&met)
	sleeps := 0.0 // of parents
	kept := stayed[:0]
	for i := range stayed {
		const rounding = 1.02
		if task := &stayed[i]; parents[task.id] && (polled || chain.active()+task.active() <= rounding*room) {
			chain.join(task)
			sleeps += task.bursts
			continue
		}
		kept = append(kept, stayed[i])
	}
	chain.run = bound(chain.run/lanes, chain.there)
	chain.wait, chain.throttled, chain.blocked = chain.wait/lanes, chain.throttled/lanes, chain.blocked/lanes
	chain.bursts = chainBursts(sleeps/lanes, &met, pod.Unseen/lanes)
	if polled {
		// A parent may wait while its child runs, which holds nothing up. The chain waits when it is stalled.
		chain.wait, chain.throttled = bound(of.stalled, chain.there-chain.run), 0
	}
	seen := blockedOf(items)
	hidden := bound(hiddenBlocked(items, gone, of.blocked, seen)/lanes, chain.there-chain.active())
	chain.blocked += hidden
	pod.Blocked = max(pod.Blocked, seen+hidden*lanes)
	for range int(lanes) {
		kept = append(kept, chain)
	}
	return kept
}

// chainBursts returns how often a chain computed until all of it slept, given the sleeps of its parents, 0 if these are unknown, for
// how long its children ran, and those of them that a reading met. A parent sleeps once while a child runs, when the chain does not,
// and once until it has more to do. All children are taken to sleep as often as those that were met, for as long as they run.
func chainBursts(parents float64, met *item, children float64) float64 {
	if parents == 0 {
		return 0
	}
	bursts := parents / 2
	if met.run > 0 {
		bursts += met.bursts * children / met.run
	}
	return max(1, bursts)
}

// busyBesides returns for how long the tasks that stayed ran, but for parents.
func busyBesides(stayed []item, parents map[int]bool) (run float64) {
	for i := range stayed {
		if !parents[stayed[i].id] {
			run += stayed[i].run
		}
	}
	return run
}

// families divides tasks into those that stayed, the sum of the children that a reading met, which are of the same kind as
// those that none met, and the parents of these children. A thread of a long-lived process is no child: the parent of its
// process is outside the pod. Where no child was met, the only active task is the parent.
func families(items []item, gone []*Task) (stayed []item, met item, parents map[int]bool) {
	here, parents := make(map[int]bool, len(items)), map[int]bool{}
	for i := range items {
		here[items[i].id] = true
	}
	for _, task := range gone {
		parents[task.Parent] = true
	}
	var active []int
	for i := range items {
		task := &items[i]
		if task.came && here[task.parent] {
			parents[task.parent] = true
			met.join(task)
			met.bursts += max(0, task.bursts-1) // while it is met, it is in the midst of one
			continue
		}
		stayed = append(stayed, *task)
		if task.active() > 0 {
			active = append(active, task.id)
		}
	}
	if len(parents) == 0 && len(active) == 1 {
		parents[active[0]] = true
	}
	return stayed, met, parents
}

// join adds the times of another task.
func (i *item) join(other *item) {
	i.run += other.run
	i.wait += other.wait
	i.throttled += other.throttled
	i.blocked += other.blocked
}

// unseenWaiting returns an estimate of how long the tasks waited that were not seen, where it was not polled, or other tasks of
// the pod ran as well. The pressure stall information is a mean over processors, weighted by how long each had a task of the
// group: a task that goes from one to another and waits at each shows as often less as there are of them. How many these are is
// estimated by where tasks were last.
//
// The parent's ratio of waiting to running is no measure: it runs briefly and waits each time. In loops of a shell that slept
// between children, that ratio was three times too high.
func unseenWaiting(items []item, gone []*Task, pod *usage.Pod, left float64) float64 {
	if pod.PressureSeconds == nil {
		return left
	}
	var held float64
	for i := range items {
		held += items[i].wait + items[i].throttled
	}
	return max(left, *pod.PressureSeconds*processorsOf(items, gone)-held)
}

// hiddenBlocked returns an estimate of for how long the tasks were blocked at disks that were not seen, given for how long some task of the pod
// was by its pressure, and for how long those were that were seen. The pressure is too low as that of processors is. A task that begins does so on
// another processor than its parent where it can, so that they alternate between two at least.
func hiddenBlocked(items []item, gone []*Task, pressure, seen float64) float64 {
	return max(0, pressure*max(2, processorsOf(items, gone))-seen)
}

// blockedOf returns for how long tasks were blocked.
func blockedOf(items []item) (blocked float64) {
	for i := range items {
		blocked += items[i].blocked
	}
	return blocked
}

// processorsOf returns on how many processors the tasks of a pod alternate, by where they were last.
func processorsOf(items []item, gone []*Task) float64 {
	var met, squares float64
	last := map[int]float64{} // how often a task was met that was last on a processor
	for _, task := range gone {
		last[task.CPU]++
		met++
	}
	for i := range items {
		if items[i].active() == 0 {
			continue
		}
		last[items[i].cpus[1]]++
		met++
		if !items[i].came {
			last[items[i].cpus[0]]++
			met++
		}
	}
	for _, n := range last {
		squares += n * n
	}
	if squares <= 0 {
		return 1
	}
	return met * met / squares
}
