package collect

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// Period is the time between the starts of two rounds.
	Period = 30 * time.Second
	// Concurrent is how many gauges are asked at once.
	Concurrent = 64
	// Patience is how long one gauge may take.
	Patience = 5 * time.Second
	// MaxBackOff is the longest time until a gauge that fails is asked again.
	MaxBackOff = 5 * time.Minute
	// MaxIntervals is how many intervals a gauge is asked for at most.
	MaxIntervals = 30
	// MaxRecalled is for how many one is asked that tells all that it keeps: as many as it does by default.
	MaxRecalled = 60
)

// Gauge is a gauge that can be asked.
type Gauge struct {
	// ID identifies the gauge, such as the UID of the pod; a gauge of another ID starts anew.
	ID string
	// Node is the node that the gauge runs on.
	Node string
	// Address is the host and the port, such as 10.0.3.7:8443.
	Address string
}

// Observed holds a gauge's observations since the last request.
type Observed struct {
	Gauge
	// Intervals follow each other, the oldest first; there is at least one, and they are valid and of the gauge's node.
	Intervals []usage.Interval
	// Ended is when the last of them ended, by the clock of the collector.
	Ended time.Time
}

// Receiver takes observations. It is called by several goroutines at once, for one gauge by one at a time, and must not keep
// its argument. Its time adds to the time of the round.
type Receiver interface {
	// Receive takes the observations of one gauge.
	Receive(ctx context.Context, o *Observed)
}

// Collector asks gauges. Its exported fields must be set before it is used, and not be changed after; a zero duration stands
// for the constant of that name.
type Collector struct {
	// Gauges returns the gauges that there are.
	Gauges func(ctx context.Context) ([]Gauge, error)
	// Token returns the bearer token to send. It is asked for once a round, since tokens are replaced.
	Token func() (string, error)
	// Recall returns the nodes whose gauges are asked for all that they keep, up to MaxRecalled intervals, when they answer for the first
	// time; others are asked for the last ones. It is asked where there are new gauges; nil is none.
	Recall   func(ctx context.Context) (map[string]bool, error)
	Receiver Receiver
	Clock    clock.WithTicker
	Log      logr.Logger
	// Transport carries requests; nil is [NewTransport].
	Transport http.RoundTripper
	Patience  time.Duration
	// Done is called after each round, if it is not nil.
	Done func(ctx context.Context, r *Round)

	once   sync.Once
	client *http.Client
	states map[string]*state // by the gauges' IDs
}

// Round is what became of a round.
type Round struct {
	// Gauges is the number of gauges, Asked the number asked, and Failed the number of these that failed. The others wait
	// because they failed before.
	Gauges, Asked, Failed int
	// Intervals is how many intervals were handed on.
	Intervals int
	// Refused are the gauges whose last answer was refused, in this round or before, in the order of their nodes.
	Refused []usage.Refusal
	// Took is how long the round took.
	Took time.Duration
}

// state is the state of a gauge between rounds.
type state struct {
	// recall says that the gauge is asked for all that it keeps first.
	recall bool
	// until is the end of the observations, by the collector's clock; zero before the first answer.
	until time.Time
	// last is the end of the last interval by the clock of its node, by which it is known again where intervals have gaps.
	last time.Time
	// period is the length of the last interval.
	period time.Duration
	// failures is how many there were in a row, and notBefore when the gauge may be asked again.
	failures  int
	notBefore time.Time
	// refused says why the last answer was refused, as an excerpt; empty if it was not.
	refused string
	// most is for how many intervals the gauge may be asked; 0 means [MaxIntervals].
	most int
}

// Start collects in rounds until the context is done.
func (c *Collector) Start(ctx context.Context) error {
	ticker := c.Clock.NewTicker(Period)
	defer ticker.Stop()
	for {
		if round, err := c.Round(ctx); err != nil {
			c.Log.Error(err, "Cannot collect what gauges observed")
		} else if c.Done != nil {
			c.Done(ctx, round)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Round asks each gauge that is due once. Gauges that answered last time are asked first. It returns an error if there is no
// list of gauges or no token; that a gauge fails is no error. Rounds must not overlap.
func (c *Collector) Round(ctx context.Context) (*Round, error) {
	c.once.Do(c.prepare)
	began := c.Clock.Now()
	gauges, err := c.Gauges(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing gauges: %w", err)
	}
	if err := c.remember(ctx, gauges); err != nil {
		return nil, err
	}
	due := slices.DeleteFunc(slices.Clone(gauges), func(g Gauge) bool { return began.Before(c.states[g.ID].notBefore) })
	slices.SortStableFunc(due, func(a, b Gauge) int { return cmp.Compare(c.states[a.ID].failures, c.states[b.ID].failures) })
	round := &Round{Gauges: len(gauges), Asked: len(due)}
	if len(due) == 0 {
		round.Refused = c.refused(gauges)
		return round, nil
	}
	token, err := c.Token()
	if err != nil {
		return nil, fmt.Errorf("reading the token for gauges: %w", err)
	}
	var (
		wait  sync.WaitGroup
		mutex sync.Mutex
		queue = make(chan Gauge)
	)
	for range min(Concurrent, len(due)) {
		wait.Go(func() {
			decoder := &usage.Decoder{}
			for g := range queue {
				n, err := c.collect(ctx, g, c.states[g.ID], token, decoder)
				mutex.Lock()
				round.Intervals += n
				if err != nil {
					round.Failed++
				}
				mutex.Unlock()
			}
		})
	}
	for _, g := range due {
		queue <- g
	}
	close(queue)
	wait.Wait()
	round.Refused, round.Took = c.refused(gauges), c.Clock.Since(began)
	return round, ctx.Err()
}

func (c *Collector) prepare() {
	c.states = map[string]*state{}
	transport := c.Transport
	if transport == nil {
		transport = NewTransport()
	}
	c.client = &http.Client{Transport: transport, Timeout: cmp.Or(c.Patience, Patience), CheckRedirect: noRedirect}
}

// remember makes states for the gauges that there are, and forgets all others.
func (c *Collector) remember(ctx context.Context, gauges []Gauge) error {
	states := make(map[string]*state, len(gauges))
	var fresh []Gauge
	for _, g := range gauges {
		if states[g.ID] = c.states[g.ID]; states[g.ID] == nil {
			fresh = append(fresh, g)
		}
	}
	var recalled map[string]bool
	if len(fresh) > 0 && c.Recall != nil {
		var err error
		if recalled, err = c.Recall(ctx); err != nil {
			return fmt.Errorf("finding the nodes of which all observations are asked for: %w", err)
		}
	}
	for _, g := range fresh {
		states[g.ID] = &state{recall: recalled[g.Node]}
	}
	c.states = states
	return nil
}

// refused returns the gauges whose last answer was refused.
func (c *Collector) refused(gauges []Gauge) (all []usage.Refusal) {
	for _, g := range gauges {
		if why := c.states[g.ID].refused; why != "" {
			all = append(all, usage.Refusal{Node: g.Node, Reason: why})
		}
	}
	slices.SortFunc(all, func(a, b usage.Refusal) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// collect asks one gauge, and returns how many intervals it handed on.
func (c *Collector) collect(ctx context.Context, g Gauge, s *state, token string, decoder *usage.Decoder) (int, error) {
	last := s.wanted(c.Clock.Now())
	report, err := c.ask(ctx, g, last, token, decoder)
	now := c.Clock.Now()
	if err != nil {
		if ctx.Err() == nil {
			s.failed(now, last, err)
			c.Log.V(1).Info("A gauge failed", "node", g.Node, "address", g.Address, "failures", s.failures, "reason", usage.Excerpt(err.Error()))
		}
		return 0, err
	}
	s.failures, s.notBefore, s.most, s.refused = 0, time.Time{}, 0, ""
	fresh, ended := s.fresh(report, now)
	if len(fresh) > 0 {
		c.Receiver.Receive(ctx, &Observed{Gauge: g, Intervals: fresh, Ended: ended})
	}
	return len(fresh), nil
}
