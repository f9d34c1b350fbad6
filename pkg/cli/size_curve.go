package cli

import (
	"context"
	"math"

	"loadline.dev/loadline/pkg/report/chart"

	"loadline.dev/loadline/pkg/model/sizing"
)

// serversChart draws how many servers each class needs in a pool of its own, first
// come first served, at other rates of arrival than now: Fig. 3 of Hu et al., CASCON
// 2009.
func serversChart(ctx context.Context, classes []sizing.Class) (chart.Chart, error) {
	servers := chart.Staircase{
		Title:    "Servers that each class needs alone",
		Quantity: "arrival rate", Unit: "/s", Takes: "servers",
	}
	servers.From, servers.To, servers.Log = rateAxis(classes)
	for _, class := range classes {
		c := climber{ctx: ctx, class: class, from: servers.From, to: servers.To, log: servers.Log}
		steps, err := c.climb()
		if err != nil {
			return nil, err
		}
		servers.Stairs = append(servers.Stairs, chart.Stair{Name: class.Name + ", " + class.SLA.String(), Steps: steps, Now: class.Arrival})
	}
	return servers, nil
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
	steps    []chart.Step
}

// climb returns the steps of a class from one end of the axis to the other. That the
// servers do not fall as the rate rises is what makes halving find them all.
func (c *climber) climb() ([]chart.Step, error) {
	low, err := c.at(0)
	if err != nil {
		return nil, err
	}
	high, err := c.at(1)
	if err != nil {
		return nil, err
	}
	c.steps = []chart.Step{low}
	err = c.between(0, 1, low, high, 0)
	return c.steps, err
}

// at returns what is needed at a position of the axis, from 0 to 1.
func (c *climber) at(position float64) (chart.Step, error) {
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
	return chart.Step{From: class.Arrival, Needs: float64(pool.Servers)}, err
}

// between adds the steps that begin after one position and not after another. Those
// around the present rate, and those that stand alone, are found to nine digits or more,
// a crowd of them to what can be seen.
func (c *climber) between(left, right float64, low, high chart.Step, depth int) error {
	const (
		visible, exact = 9, 40 // halvings
		crowd          = 2     // steps; the first one after now is never in a larger one
	)
	difference := high.Needs - low.Needs
	isNow := low.From <= c.class.Arrival && c.class.Arrival <= high.From
	if difference == 0 {
		return nil
	}
	if depth >= exact || depth >= visible && difference > crowd && !isNow {
		c.steps = append(c.steps, high)
		return nil
	}
	half := (left + right) / 2
	middle, err := c.at(half)
	if err != nil {
		return err
	}
	if err := c.between(left, half, low, middle, depth+1); err != nil {
		return err
	}
	return c.between(half, right, middle, high, depth+1)
}
