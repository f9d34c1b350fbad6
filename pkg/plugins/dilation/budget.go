package dilation

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"loadline.dev/loadline/pkg/node"
)

// A budget bounds what one scheduling cycle works out by the accurate model, in steps of it, to judge nodes and to say how a pod
// fares: whatever pods declare, a cycle takes some tenths of a second at most in the long run. What it cannot afford is judged by
// bounds from above. All of a cycle's goroutines draw on it.
type budget struct {
	left   atomic.Int64
	shared *rate.Limiter // of all cycles, for what is above
	now    time.Time
}

const (
	// cycleSteps is what each cycle may take, a node of thirty pods or one of ten that are all different.
	cycleSteps = 150_000
	// refillSteps is what cycles may take besides that in a second, a tenth of it, and burstSteps what they may take at once.
	burstSteps, refillSteps = 20_000_000, 1_000_000
)

// newSharedBudget returns what all cycles have in common.
func newSharedBudget() *rate.Limiter { return rate.NewLimiter(refillSteps, burstSteps) }

// newBudget returns the budget of a cycle that begins now.
func newBudget(shared *rate.Limiter, now time.Time) *budget {
	b := &budget{shared: shared, now: now}
	b.left.Store(cycleSteps)
	return b
}

// grant is asked for the steps of one node at a time.
type grant struct {
	*budget
	exhausted bool // a node was not worked out for want of steps, not because it would take too many by itself
}

// granted reports whether a number of steps may be taken, and takes them.
func (g *grant) granted(steps float64) bool {
	if !node.Granted(steps) {
		return false
	}
	if g.left.Add(-int64(steps)) >= 0 || g.shared.AllowN(g.now, int(steps)) {
		return true
	}
	g.exhausted = true
	return false
}
