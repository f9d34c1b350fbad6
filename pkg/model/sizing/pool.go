package sizing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Pool is a number of servers with one queue. Slices per class are in the order of
// Classes.
type Pool struct {
	Classes  []int // that it serves, as indices into the classes given, in ascending order
	Servers  int
	Cost     float64 // of all servers; each costs the price of the most expensive class
	Load     float64 // servers that are busy on average, ρ
	Attained []float64
	// WithFewer and WithMore are the probabilities attained with one server fewer, nil if these
	// could not keep up with the load or there would be none, and with one more.
	WithFewer, WithMore []float64
	// Binding is the class, as an index into the classes given, that misses its SLA the
	// most with one server fewer, or −1 if that could not keep up with the load at all.
	Binding int
	// Order has the classes of a HOL pool, of the highest priority first, as indices
	// into the classes given; nil for other disciplines.
	Order []int
	// HalfWidth is half the width of the confidence interval of each Attained; nil
	// unless simulated.
	HalfWidth []float64
	// Error is a bound of the error of each Attained, WithFewer and WithMore that comes
	// from an approximation: see [queueing.MGm]. 0 where they are exact, or simulated.
	Error float64
	// FewerMayDo says that one server fewer meets all SLAs if the approximation errs that
	// far, MoreMayBeNeeded that Servers do not.
	FewerMayDo, MoreMayBeNeeded bool
	// Undecided says that the budget of the simulation was spent before it was sure
	// that one server fewer does not do. Servers is on the safe side.
	Undecided bool
}

// Utilization returns the fraction of the servers that is busy.
func (p Pool) Utilization() float64 { return p.Load / float64(p.Servers) }

// ErrDifferentRates is wrapped by the error of a HOL pool whose classes do not have one
// rate of exponential service.
var ErrDifferentRates = errors.New("HOL needs classes with one rate of exponential service times")

// Fewest returns the pool with the fewest servers that meets the SLAs of all classes.
// The error is that of [Validate], or wraps [ErrDifferentRates], or is that of the
// context, which simulations heed.
func Fewest(ctx context.Context, classes []Class, o Options) (Pool, error) {
	if err := errors.Join(o.validate(), Validate(classes)); err != nil {
		return Pool{}, err
	}
	return fewest(ctx, classes, indices(classes), 1, o)
}

func indices(classes []Class) []int {
	members := make([]int, len(classes))
	for i := range members {
		members[i] = i
	}
	return members
}

// fewest returns the smallest pool with at least a number of servers for some of the
// classes, all of them valid.
func fewest(ctx context.Context, classes []Class, members []int, atLeast int, o Options) (Pool, error) {
	if err := ctx.Err(); err != nil {
		return Pool{}, err
	}
	chosen := selected(classes, members)
	pool := Pool{Binding: -1}
	var err error
	if o.simulates(chosen) {
		err = pool.simulate(ctx, chosen, atLeast, o)
	} else {
		err = pool.analyze(chosen, atLeast, o)
	}
	if err != nil {
		return Pool{}, err
	}
	pool.Classes = members
	if pool.Binding >= 0 {
		pool.Binding = members[pool.Binding]
	}
	for i, k := range pool.Order {
		pool.Order[i] = members[k]
	}
	for _, c := range chosen {
		pool.Load += c.load()
	}
	pool.Cost = costOf(chosen, pool.Servers)
	return pool, nil
}

func selected(classes []Class, members []int) []Class {
	chosen := make([]Class, len(members))
	for i, k := range members {
		chosen[i] = classes[k]
	}
	return chosen
}

// costOf returns the cost of the servers of a pool.
func costOf(classes []Class, servers int) float64 {
	dearest := 0.0
	for _, c := range classes {
		dearest = max(dearest, c.cost())
	}
	return dearest * float64(servers)
}

// A computedPool is a pool whose answers are computed.
type computedPool interface {
	servers() int
	// order reports whether all classes meet their SLAs, and for HOL the order of
	// priority with which they do.
	order() ([]int, bool)
	// attained returns the probability of each class, given that order.
	attained(order []int) []float64
	// bound returns a bound of the error of these probabilities, 0 if they are exact.
	bound() float64
}

// prioritized reports whether the classes of a pool take turns by priority: a class alone
// has none.
func prioritized(classes []Class, d Discipline) bool { return d == HOL && len(classes) > 1 }

// computedPools returns the function that returns the pool with a number of servers, which
// must be stable.
func computedPools(classes []Class, o Options) (func(servers int) (computedPool, error), error) {
	steps := trying(classes, o.Discipline)
	if !prioritized(classes, o.Discipline) {
		return func(servers int) (computedPool, error) {
			if err := o.Work.spend(steps); err != nil {
				return nil, err
			}
			return fcfsPoolWith(classes, servers)
		}, nil
	}
	loosest, err := loosestFirst(classes, o)
	if err != nil {
		return nil, err
	}
	return func(servers int) (computedPool, error) {
		if err := o.Work.spend(steps); err != nil {
			return nil, err
		}
		return holPoolWith(classes, servers, loosest)
	}, nil
}

// ErrTooLarge is wrapped by the error for pools that need more servers than are looked at.
var ErrTooLarge = errors.New("too many servers")

// stable returns the fewest servers, at least some number, that keep up with the load, or
// one fewer, for the load is a sum that is rounded.
func stable(classes []Class, atLeast int, o Options) (int, error) {
	load := 0.0
	for _, c := range classes {
		load += c.load()
	}
	if load >= float64(o.maxServers()) {
		return 0, fmt.Errorf("classes: %w: jobs keep %.4g servers busy, and up to %d are looked at", ErrTooLarge, load, o.maxServers())
	}
	return max(atLeast, int(load)+1), nil
}

// smallest returns the smallest pool with at least the given number of servers that meets all SLAs:
// attained probabilities grow with the servers. From the smallest one that keeps up with the load
// it takes steps that double, and then halves the last one. It evaluates no pool with more servers
// than atMost, and returns nil if none up to there meets the SLAs.
func smallest(classes []Class, atLeast int, atMost float64, o Options, with func(servers int) (computedPool, error)) (computedPool, error) {
	low, err := stable(classes, atLeast, o)
	if err != nil {
		return nil, err
	}
	meeting := func(servers int) (computedPool, error) {
		s, err := with(servers)
		if errors.Is(err, queueing.ErrUnstable) {
			return nil, nil //nolint:nilnil // no pool, and no error
		}
		if err != nil {
			return nil, err
		}
		if _, ok := s.order(); !ok {
			return nil, nil //nolint:nilnil // the same
		}
		return s, nil
	}
	limit := int(min(atMost, float64(o.maxServers())))
	var enough computedPool
	for step := 1; enough == nil; step *= 2 {
		if low > limit {
			return nil, nil //nolint:nilnil // there is none
		}
		at := min(low+step-1, limit)
		if enough, err = meeting(at); err != nil {
			return nil, err
		}
		if enough == nil {
			low = at + 1
		}
	}
	for high := enough.servers(); low < high; high = enough.servers() {
		middle, err := meeting(low + (high-low)/2)
		if err != nil {
			return nil, err
		}
		if middle != nil {
			enough = middle
		} else {
			low += (high-low)/2 + 1
		}
	}
	return enough, nil
}

// count returns the fewest servers, at least the number known to be needed, where
// nothing else is asked for. Above a limit it returns some number above it that is not
// too large.
func count(classes []Class, atLeast int, atMost float64, o Options) (int, error) {
	with, err := computedPools(classes, o)
	if err != nil {
		return 0, err
	}
	s, err := smallest(classes, atLeast, atMost, o, with)
	switch {
	case err != nil:
		return 0, err
	case s != nil:
		return s.servers(), nil
	case atMost >= float64(o.maxServers()):
		return 0, tooLarge(o)
	default:
		return stable(classes, max(atLeast, int(atMost)+1), o)
	}
}

func tooLarge(o Options) error {
	return fmt.Errorf("classes: %w: the SLAs need more than %d, which are looked at", ErrTooLarge, o.maxServers())
}

// analyze sizes the pool, given a lower bound of its servers.
func (p *Pool) analyze(classes []Class, atLeast int, o Options) error {
	with, err := computedPools(classes, o)
	if err != nil {
		return err
	}
	s, err := smallest(classes, atLeast, float64(o.maxServers()), o, with)
	if err != nil {
		return err
	}
	if s == nil {
		return tooLarge(o)
	}
	order, _ := s.order()
	p.Servers, p.Order, p.Attained, p.Error = s.servers(), slices.Clone(order), s.attained(order), s.bound()
	p.MoreMayBeNeeded = margin(classes, p.Attained) < s.bound()
	if p.Servers > 1 {
		fewer, err := with(p.Servers - 1)
		switch {
		case errors.Is(err, queueing.ErrUnstable):
		case err != nil:
			return err
		default:
			p.WithFewer = fewer.attained(order)
			p.Binding = furthestBelow(classes, p.WithFewer)
			p.Error = max(p.Error, fewer.bound())
			p.FewerMayDo = -margin(classes, p.WithFewer) < fewer.bound()
		}
	}
	if p.Servers == queueing.MaxQueueServers {
		return nil
	}
	more, err := with(p.Servers + 1)
	if err != nil {
		return err
	}
	p.WithMore, p.Error = more.attained(order), max(p.Error, more.bound())
	return nil
}

// margin returns the margin of the SLA that is met least, below 0 if it is missed.
func margin(classes []Class, attained []float64) float64 {
	least := math.Inf(1)
	for k, c := range classes {
		least = min(least, attained[k]-c.SLA.Probability)
	}
	return least
}

// furthestBelow returns the class that misses its SLA the most, −1 if none does.
func furthestBelow(classes []Class, attained []float64) int {
	worst, by := -1, 0.0
	for k, c := range classes {
		if missed := c.SLA.Probability - attained[k]; missed > by {
			worst, by = k, missed
		}
	}
	return worst
}
