package placement

import (
	"math"

	"loadline.dev/loadline/pkg/model/contention"
)

// forecast computes what becomes of a node when a job is put there and no other
// arrives: its jobs are replayed until they are done.
type forecast struct {
	running contention.Running
	done    []int
}

// mine is the number of the job that is put there.
const mine = -1

// until returns how long it takes from now until the job is done, or until all
// jobs on the node are; +Inf if that is more than a limit.
func (f *forecast) until(all bool, now float64, j *Job, n *Node, limit float64) float64 {
	if j.Neutral*n.Mixes.Stretch(j.Type) > limit {
		return math.Inf(1) // not even alone
	}
	f.running.CopyFrom(n.Running)
	if now > n.Since && f.running.Mix().Jobs() > 0 {
		f.done = f.running.Advance(now-n.Since, f.done[:0])
	}
	f.running.Start(j.Type, j.Neutral, mine)
	elapsed := 0.0
	for f.running.Mix().Jobs() > 0 {
		next := f.running.Next()
		if elapsed += next; elapsed > limit {
			return math.Inf(1)
		}
		f.done = f.running.Advance(next, f.done[:0])
		for _, id := range f.done {
			if id == mine && !all {
				return elapsed
			}
		}
	}
	return elapsed
}

// first returns the first of the nodes where that takes least time.
func (f *forecast) first(all bool, now float64, j *Job, nodes []*Node) int {
	best, least := 0, math.Inf(1)
	for i, n := range nodes {
		// A node that is not better by more than rounding is not better.
		if time := f.until(all, now, j, n, least*(1-tie)); time < least {
			best, least = i, time
		}
	}
	return best
}
