package sizing

import (
	"context"
	"errors"
	"fmt"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Attain returns the probability with which each class of a pool with a number of servers
// meets the time of its SLA. Order is the priority of the classes in a HOL pool, of the
// highest first; nil leaves the choice to it, for other disciplines it must be nil. The
// error wraps [queueing.ErrUnstable] if the servers cannot keep up with the load; the
// others are those of [Fewest].
func Attain(ctx context.Context, classes []Class, servers int, order []int, o Options) ([]float64, error) {
	err := errors.Join(o.validate(), Validate(classes))
	if infeasible := (*InfeasibleError)(nil); err != nil && !errors.As(err, &infeasible) {
		return nil, err // that an SLA cannot be met does not matter here
	}
	if servers < 1 {
		return nil, &queueing.ValueError{Field: "servers", Value: float64(servers), Rule: "is not at least 1"}
	}
	if err := checkOrder(order, len(classes), o.Discipline); err != nil {
		return nil, err
	}
	return attain(ctx, classes, servers, order, o)
}

func checkOrder(order []int, classes int, d Discipline) error {
	if order == nil {
		return nil
	}
	if d != HOL {
		return fmt.Errorf("order: %v has no priorities", d)
	}
	seen := make([]bool, classes)
	for i, k := range order {
		if k < 0 || k >= classes || seen[k] {
			return fmt.Errorf("order[%d]: %d is not a class that is not yet in the order", i, k)
		}
		seen[k] = true
	}
	if len(order) != classes {
		return fmt.Errorf("order: %d classes of %d", len(order), classes)
	}
	return nil
}

func attain(ctx context.Context, classes []Class, servers int, order []int, o Options) ([]float64, error) {
	if o.simulates(classes) {
		s, err := newSimulator(classes, o)
		if err != nil {
			return nil, err
		}
		t, err := s.try(ctx, servers)
		return t.attained, err
	}
	if err := o.Work.spend(trying(classes, o.Discipline)); err != nil {
		return nil, err
	}
	var s computedPool
	var err error
	if prioritized(classes, o.Discipline) {
		s, err = holPoolWith(classes, servers, indices(classes))
	} else {
		s, err = fcfsPoolWith(classes, servers)
	}
	if err != nil {
		return nil, err
	}
	if order == nil {
		if order, _ = s.order(); order == nil && o.Discipline == HOL {
			order = indices(classes)
		}
	}
	return s.attained(order), nil
}
