package pools

import (
	"context"
	"math"

	"loadline.dev/loadline/pkg/model/sizing"
)

// Curve is how many servers some classes need, each in a pool of its own that serves
// first come first served, at other rates of arrival than now.
type Curve struct {
	// From and To are the rates, per second, between which it is; there is room around
	// the rates of all classes. Log says that it takes a logarithmic scale not to
	// squeeze the smallest into a corner.
	From, To float64
	Log      bool
	// Classes are those of the plan, in its order.
	Classes []ClassCurve
}

// ClassCurve is the curve of one class.
type ClassCurve struct {
	Name string
	SLA  sizing.SLA
	// Now is its rate of arrival, per second.
	Now float64
	// Steps rise from the beginning of the curve to its end.
	Steps []Step
}

// Step is a rate of arrival, per second, from which on a number of servers is needed.
type Step struct {
	Arrival float64
	Servers int
}

// ServersByRate finds how many servers each class of a plan needs alone, at other rates
// of arrival than now: Fig. 3 of Hu et al., CASCON 2009. The error is that of [Plan].
func ServersByRate(ctx context.Context, in Input) (*Curve, error) {
	p, err := newPlanner(&in)
	if err != nil {
		return nil, err
	}
	if err := p.faultless(); err != nil {
		return nil, err
	}
	curve := &Curve{}
	curve.From, curve.To, curve.Log = rateAxis(p.classes)
	for _, class := range p.classes {
		c := climber{ctx: ctx, class: class, from: curve.From, to: curve.To, log: curve.Log}
		steps, err := c.climb()
		if err != nil {
			return nil, explain(ctx, err)
		}
		curve.Classes = append(curve.Classes, ClassCurve{Name: class.Name, SLA: class.SLA, Now: class.Arrival, Steps: steps})
	}
	return curve, nil
}

// rateAxis returns an axis with room around the rates of all classes; a logarithmic
// one if the smallest would be squeezed into a corner.
func rateAxis(classes []sizing.Class) (from, to float64, logarithmic bool) {
	const room, squeezed = 2, 20
	least, most := math.Inf(1), 0.0
	for _, c := range classes {
		most = max(most, c.Arrival)
		if c.Arrival > 0 {
			least = min(least, c.Arrival)
		}
	}
	switch {
	case most == 0: // as if a server were busy
		for _, c := range classes {
			most = max(most, c.Service)
		}
		return 0, room * most, false
	case most > squeezed*least:
		return least / room, room * most, true
	default:
		return 0, room * most, false
	}
}

// climber finds the rates at which a class needs one server more.
type climber struct {
	ctx      context.Context //nolint:containedctx // it lives as long as one call of climb
	class    sizing.Class
	from, to float64
	log      bool
	steps    []Step
}

// climb returns the steps of a class from one end of the axis to the other. Bisection finds them
// all because the number of servers does not fall as the rate rises.
func (c *climber) climb() ([]Step, error) {
	low, err := c.stepAt(0)
	if err != nil {
		return nil, err
	}
	high, err := c.stepAt(1)
	if err != nil {
		return nil, err
	}
	c.steps = []Step{low}
	err = c.between(0, 1, low, high, 0)
	return c.steps, err
}

// stepAt returns the need at a position of the axis, from 0 to 1.
func (c *climber) stepAt(position float64) (Step, error) {
	class := c.class
	if c.log {
		class.Arrival = math.Exp(math.Log(c.from) + position*(math.Log(c.to)-math.Log(c.from)))
	} else {
		class.Arrival = c.from + position*(c.to-c.from)
	}
	if position == 0 {
		class.Arrival = c.from // without the rounding
	}
	pool, err := sizing.Fewest(c.ctx, []sizing.Class{class}, sizing.Options{})
	return Step{class.Arrival, pool.Servers}, err
}

// between adds the steps that begin after one position and not after another. Those around the
// present rate, and isolated ones, are found to nine digits or more, dense ones to the resolution
// of a chart.
func (c *climber) between(left, right float64, low, high Step, depth int) error {
	const (
		visible, exact = 9, 40 // halvings
		crowd          = 2     // steps; the first one after now is never in a larger one
	)
	difference := high.Servers - low.Servers
	isNow := low.Arrival <= c.class.Arrival && c.class.Arrival <= high.Arrival
	if difference == 0 {
		return nil
	}
	if depth >= exact || depth >= visible && difference > crowd && !isNow {
		c.steps = append(c.steps, high)
		return nil
	}
	half := (left + right) / 2
	middle, err := c.stepAt(half)
	if err != nil {
		return err
	}
	if err := c.between(left, half, low, middle, depth+1); err != nil {
		return err
	}
	return c.between(half, right, middle, high, depth+1)
}
