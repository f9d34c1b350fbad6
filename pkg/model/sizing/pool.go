package sizing

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
)

// Pool is a number of servers with one queue. Slices per class are in the order of
// Classes.
type Pool struct {
	Classes  []int // that it serves, as indices into the classes given, in ascending order
	Servers  int
	Cost     float64 // of all servers; each costs what the most expensive class asks for
	Load     float64 // servers that are busy on average, ρ
	Attained []float64
	// WithFewer and WithMore are what would be attained with one server fewer, nil if
	// these could not keep up with the load or there would be none, and with one more.
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
		err = pool.analyze(chosen, atLeast, o.Discipline)
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

// costOf returns what the servers of a pool cost.
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

// computedPools returns the stable ones for the classes with atLeast servers or more,
// from the fewest up.
func computedPools(classes []Class, atLeast int, d Discipline) (iter.Seq[computedPool], error) {
	if d == HOL {
		return holPools(classes, atLeast)
	}
	return fcfsPools(classes, atLeast)
}

// count returns the fewest servers, at least the number known to be needed, where
// nothing else is asked for. Above a limit it returns some number above it that is not
// too large.
func count(classes []Class, atLeast int, atMost float64, d Discipline) (int, error) {
	load := 0.0
	for _, c := range classes {
		load += c.load()
	}
	if stable := max(atLeast, int(load)+1); float64(stable) > atMost {
		return stable, nil
	}
	candidates, err := computedPools(classes, atLeast, d)
	if err != nil {
		return 0, err
	}
	for s := range candidates {
		if _, ok := s.order(); ok {
			return s.servers(), nil
		}
		if next := s.servers() + 1; float64(next) > atMost {
			return next, nil
		}
	}
	return 0, errTooLarge
}

// errTooLarge is for SLAs beyond queueing.MaxQueueServers.
var errTooLarge = errors.New("classes: the SLAs need more servers than can be computed")

// analyze sizes the pool, given a lower bound of its servers.
func (p *Pool) analyze(classes []Class, atLeast int, d Discipline) error {
	candidates, err := computedPools(classes, atLeast-1, d)
	if err != nil {
		return err
	}
	var fewer computedPool
	for s := range candidates {
		if p.Servers > 0 { // the one after the answer
			p.WithMore, p.Error = s.attained(p.Order), max(p.Error, s.bound())
			break
		}
		if s.servers() >= atLeast {
			if order, ok := s.order(); ok {
				p.Servers, p.Order, p.Attained, p.Error = s.servers(), order, s.attained(order), s.bound()
				p.MoreMayBeNeeded = margin(classes, p.Attained) < s.bound()
				if fewer != nil {
					p.WithFewer = fewer.attained(order)
					p.Binding = furthestBelow(classes, p.WithFewer)
					p.Error = max(p.Error, fewer.bound())
					p.FewerMayDo = -margin(classes, p.WithFewer) < fewer.bound()
				}
				continue
			}
		}
		fewer = s
	}
	if p.Servers == 0 {
		return errTooLarge
	}
	p.Order = slices.Clone(p.Order)
	return nil
}

// margin returns by how much the SLA is met that is met least, below 0 if it is missed.
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
