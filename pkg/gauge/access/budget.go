package access

import (
	"context"
	"net/netip"
	"sync"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

const (
	// perSecond and burst bound the requests to judge that come from one source, of tokens that were not allowed lately.
	perSecond, burst = 5, 20
	// atOnceEach is how many of them are judged at once, or wait for a slot: a part of all, and one's turn comes soon.
	atOnceEach = 2
	// maxBudgets is the number of sources whose spending is kept. A forgotten source begins anew, as it also would after some
	// seconds.
	maxBudgets = 4096
)

// budget bounds the reviews for the requests of one source.
type budget struct {
	limiter flowcontrol.PassiveRateLimiter
	slots   chan struct{}
}

// spend takes one question from the budget, and waits until there are few others of the source. The caller says when it was answered.
func (b *budget) spend(ctx context.Context) (answered func(), err error) {
	if !b.limiter.TryAccept() {
		return nil, errBusy
	}
	select {
	case b.slots <- struct{}{}:
		return func() { <-b.slots }, nil
	case <-ctx.Done():
		return nil, errBusy
	}
}

// budgets are those of the sources that asked last.
type budgets struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	bySource *lru.Cache // of *budget by netip.Prefix
}

func newBudgets(now clock.PassiveClock) *budgets {
	return &budgets{clock: now, bySource: lru.New(maxBudgets)}
}

// budgetOf returns the budget of a source.
func (b *budgets) budgetOf(from netip.Prefix) *budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if kept, is := b.bySource.Get(from); is {
		if kept, is := kept.(*budget); is {
			return kept
		}
	}
	fresh := &budget{flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(perSecond, burst, b.clock), make(chan struct{}, atOnceEach)}
	b.bySource.Add(from, fresh)
	return fresh
}
