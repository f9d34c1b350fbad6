package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// lifetime is for how long an answer holds.
	lifetime = time.Minute
	// deadline is how long the API server may take to answer, and how long to wait for one's turn to ask it.
	deadline = 5 * time.Second
	// maxAllowed and maxRefused are how many answers are kept of each kind, so that wrong tokens displace no right one.
	maxAllowed, maxRefused = 256, 1024
	// atOnce is how many requests to judge at once.
	atOnce = 4
)

// Guard judges requests, and remembers the answers. All of its methods may be called at once.
type Guard struct {
	judge   Recognize
	clock   clock.PassiveClock
	budgets *budgets
	slots   chan struct{} // who waits for one gets it in turn
	flights singleflight.Group

	mu      sync.Mutex
	allowed *answers
	refused *answers
	failing bool
}

// NewGuard returns a guard that asks a judge.
func NewGuard(judge Judge, now clock.PassiveClock) *Guard {
	return NewRecognizing(func(ctx context.Context, r Request) (Decision, *User, error) {
		decision, err := judge(ctx, r)
		return decision, nil, err
	}, now)
}

// NewRecognizing returns a guard that learns whose an allowed token is.
func NewRecognizing(judge Recognize, now clock.PassiveClock) *Guard {
	return &Guard{
		judge: judge, clock: now,
		budgets: newBudgets(now), slots: make(chan struct{}, atOnce),
		allowed: newAnswers(maxAllowed), refused: newAnswers(maxRefused),
	}
}

// key identifies a request without holding a token.
type key [sha256.Size]byte

func keyOf(r Request) key {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %s", r.Path, r.Audience, r.Token))
}

// decide returns the decision about a request.
func (g *Guard) decide(ctx context.Context, from netip.Prefix, r Request) (Decision, error) {
	a, err := g.answer(ctx, from, r)
	return a.decision, err
}

// answer returns the remembered answer to a request, or the one that follows from its token, or asks. Equal requests that come
// together are asked once, on the budget of the first one. A caller that goes away does not end the question, as others may wait
// for the answer.
func (g *Guard) answer(ctx context.Context, from netip.Prefix, r Request) (answer, error) {
	k := keyOf(r)
	before, known := g.remembered(k)
	if before.decision != 0 {
		return before, nil
	}
	if !plausible(r.Token, r.Audience, g.clock.Now()) {
		return answer{decision: Unauthenticated}, nil
	}
	asked := g.flights.DoChan(hex.EncodeToString(k[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deadline)
		defer cancel()
		if known { // recently allowed requests cost no budget, so that no source can use it up
			return g.ask(ctx, k, r)
		}
		spent, err := g.budgets.budgetOf(from).spend(ctx)
		if err != nil {
			return answer{}, err
		}
		defer spent()
		return g.ask(ctx, k, r)
	})
	select {
	case <-ctx.Done():
		return answer{}, ctx.Err()
	case result := <-asked:
		a, _ := result.Val.(answer)
		return a, result.Err
	}
}

// remembered returns the answer that still holds, or none, and whether the last answer was yes, be it too old.
func (g *Guard) remembered(k key) (a answer, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock.Now()
	if a, is := g.allowed.get(k); is {
		if now.Sub(a.at) < lifetime {
			return a, true
		}
		return answer{}, true
	}
	if a, is := g.refused.get(k); is && now.Sub(a.at) < lifetime {
		return a, false
	}
	return answer{}, false
}

// ask asks the judge once there is a free slot, and remembers the answer.
func (g *Guard) ask(ctx context.Context, k key, r Request) (answer, error) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-ctx.Done():
		return answer{}, errBusy
	}
	decision, user, err := g.judge(ctx, r)
	g.report(ctx, err)
	if err != nil {
		return answer{}, err
	}
	a := answer{decision: decision, user: user, at: g.clock.Now()}
	g.remember(k, a)
	return a, nil
}

func (g *Guard) remember(k key, a answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a.decision == Allowed {
		g.refused.drop(k)
		g.allowed.put(k, a)
		return
	}
	g.allowed.drop(k)
	g.refused.put(k, a)
}

// report logs when the judge begins to fail and when it answers again, not every time between.
func (g *Guard) report(ctx context.Context, err error) {
	g.mu.Lock()
	changed := g.failing != (err != nil)
	g.failing = err != nil
	g.mu.Unlock()
	log := klog.FromContext(ctx)
	switch {
	case changed && err != nil:
		log.Error(err, "Tokens cannot be judged: the API server does not answer")
	case changed:
		log.Info("Tokens can be judged again")
	}
}
