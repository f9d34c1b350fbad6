package sizing

import (
	"errors"
	"math"
	"sync/atomic"
)

// ErrTooCostly is the error of questions that would take more than their [Work].
var ErrTooCostly = errors.New("too costly: it would take longer than it may")

// Work is a budget of computation, shared by all questions that are given it. It counts steps of
// some 100 ns on one processor, before they are made, by the size of the question and not by a
// clock: the same question has the same answer on any machine. It is safe for concurrent use; nil
// is no bound.
type Work struct{ left atomic.Int64 }

// NewWork returns a number of steps.
func NewWork(steps int64) *Work {
	w := &Work{}
	w.left.Store(steps)
	return w
}

// spend takes steps away. It returns ErrTooCostly if fewer are left.
func (w *Work) spend(steps float64) error {
	if w != nil && w.left.Add(-int64(math.Ceil(steps))) < 0 {
		return ErrTooCostly
	}
	return nil
}

// trying returns the steps that it takes to find out whether a number of servers is enough
// for some classes: Erlang's recursion, and then one probability for each class, or, for
// HOL, for each class in each place. Queues of several service times are approximated,
// which takes up to some milliseconds, as measured: less where fewer servers than some are
// kept busy, and for a class alone that varies no more than exponentially.
func trying(classes []Class, d Discipline) float64 {
	n, load := float64(len(classes)), 0.0
	for _, c := range classes {
		load += c.load()
	}
	const steady, mixed, some = 4_000, 35_000, 30
	erlang := 1 + math.Sqrt(load)/2
	switch {
	case prioritized(classes, d):
		return erlang + 18*n*(n+1)
	case uniform(classes):
		return erlang + 3*n
	case len(classes) == 1 && classes[0].scv() <= 1:
		return erlang + steady
	default:
		return erlang + mixed*min(1, 0.2+load/some) + 2_000*n
	}
}
