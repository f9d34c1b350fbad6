package reading

import (
	"math"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// unseenMatters is what fraction of a pod's running must be unseen for more to be made of it than a sum.
const unseenMatters = 0.1

// withUnseen returns what the tasks of a pod did, with those that came or went taken for as few as possible that were always
// there. Of the tasks that are gone only the parents matter; left is how long limits held the pod back besides the tasks seen.
func withUnseen(items []item, gone []*Task, pod *usage.Pod, left float64) []item {
	if pod.Unseen < unseenMatters*pod.Run || pod.Unseen == 0 {
		return items
	}
	here := map[int]bool{}
	for i := range items {
		here[items[i].id] = true
	}
	parents := map[int]bool{}
	for _, task := range gone {
		parents[task.Parent] = true
	}
	// Children that a reading met are of the same kind as those that it missed. A thread that a process of long life made is
	// not: the parent of its process is outside the pod.
	stayed := make([]item, 0, len(items)+1)
	chain := item{run: pod.Unseen, throttled: unseenWaiting(items, pod, left)}
	met := item{}
	for _, i := range items {
		if i.came && here[i.parent] {
			parents[i.parent] = true
			met.join(i)
			continue
		}
		stayed = append(stayed, i)
	}
	lanes := max(1, math.Ceil((chain.run+met.active())/pod.Seconds-0.05))
	room := lanes * pod.Seconds
	chain.throttled = bound(chain.throttled, room-chain.run-met.active())
	chain.join(met)
	kept := stayed[:0]
	for _, i := range stayed {
		if parents[i.id] && chain.active()+i.active() <= 1.02*room {
			chain.join(i)
			continue
		}
		kept = append(kept, i)
	}
	one := item{
		there: pod.Seconds, run: chain.run / lanes, wait: chain.wait / lanes,
		throttled: chain.throttled / lanes, blocked: chain.blocked / lanes,
	}
	one.run = bound(one.run, one.there)
	for range int(lanes) {
		kept = append(kept, one)
	}
	return kept
}

// join adds what another task did.
func (i *item) join(other item) {
	i.run += other.run
	i.wait += other.wait
	i.throttled += other.throttled
	i.blocked += other.blocked
}

// unseenWaiting returns an estimate of how long the tasks waited that were not seen.
func unseenWaiting(items []item, pod *usage.Pod, left float64) float64 {
	var run, held float64
	for i := range items {
		run += items[i].run
		held += items[i].wait + items[i].throttled
	}
	const enough = 0.01 // of the running, to say how long the rest waited for its own
	switch {
	case pod.PressureSeconds != nil:
		return max(left, *pod.PressureSeconds-held)
	case run >= enough*pod.Unseen:
		return max(left, pod.Unseen*held/run)
	}
	return left
}
