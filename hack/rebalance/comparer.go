package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/arrivals"
)

// comparer is a comparison that goes on.
type comparer struct {
	*options
	progress   *comparison.Progress
	contenders []contender
	runs       []runs
}

// runs are the days of one remedy, one for each seed.
type runs struct {
	Remedy string     `json:"remedy"`
	Of     []*outcome `json:"bySeed"`
}

// outcome is a day with a remedy.
type outcome struct {
	Seed  uint64   `json:"seed"`
	Hours []moment `json:"hours"`
	// Seconds is how long the remedy took to decide, all hours together, on the machine of the comparison.
	Seconds float64 `json:"seconds"`
}

// moment is an hour of a day.
type moment struct {
	acts
	// Model and Simulation say how pods fare half an hour after the remedy has acted. The latter is nil where it was not asked.
	Model      verdict  `json:"model"`
	Simulation *verdict `json:"simulation,omitempty"`
	// Waiting is how many pods are on no node.
	Waiting int `json:"waiting"`
}

// newComparer returns a comparison by flags. The error names the flag that is wrong.
func newComparer(o *options, progress *comparison.Progress) (*comparer, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	contenders, err := o.contenders()
	if err != nil {
		return nil, err
	}
	c := &comparer{options: o, progress: progress, contenders: contenders}
	for _, one := range contenders {
		c.runs = append(c.runs, runs{Remedy: one.name})
	}
	return c, nil
}

// compare takes the cluster of a seed through the day with each remedy, and saves what is known after each.
func (c *comparer) compare(ctx context.Context, seed uint64) error {
	c.Seed = seed
	s, err := scenario.New(c.Options)
	if err != nil {
		return err
	}
	processorsOnly(s)
	first := newCluster(s)
	if err := byKubeScheduler(first, nil, tiesOf(s)); err != nil {
		return err
	}
	c.progress.Step("seed %d: %s", seed, s.Describe())
	nodes := nodesim.New()
	nodes.Precision = c.precision
	for i, one := range c.contenders {
		c.progress.Step("seed %d: %s", seed, one.name)
		o, err := c.follow(ctx, first.clone(), one, nodes)
		if err != nil {
			return fmt.Errorf("seed %d: %s: %w", seed, one.name, err)
		}
		c.runs[i].Of = append(c.runs[i].Of, o)
		if err := c.save(); err != nil { // what comes next may take hours
			return err
		}
	}
	return nil
}

func tiesOf(s *scenario.Scenario) *rand.Rand { return rand.New(arrivals.Source(s.Seed, tiesStream)) }

// follow takes a cluster through the day with a remedy.
func (c *comparer) follow(ctx context.Context, at *cluster, by contender, nodes *nodesim.Judge) (*outcome, error) {
	o, ties := &outcome{Seed: c.Seed}, tiesOf(at.scenario)
	for hour := range c.hours {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen, err := observe(at, hour)
		if err != nil {
			return nil, fmt.Errorf("hour %d: observing: %w", hour, err)
		}
		begin := time.Now()
		done, err := by.act(ctx, at, seen, ties)
		if err != nil {
			return nil, fmt.Errorf("hour %d: %w", hour, err)
		}
		o.Seconds += time.Since(begin).Seconds()
		m, err := c.judge(at, hour, nodes)
		if err != nil {
			return nil, fmt.Errorf("hour %d: judging: %w", hour, err)
		}
		m.acts = done
		o.Hours = append(o.Hours, m)
		c.progress.Count("hours", hour+1, c.hours)
	}
	return o, nil
}

// judge judges a cluster half an hour after a full hour.
func (c *comparer) judge(at *cluster, hour int, nodes *nodesim.Judge) (moment, error) {
	const later = 0.5
	m, now := moment{Waiting: len(at.waiting())}, float64(hour)+later
	var err error
	if m.Model, err = at.model(now); err != nil {
		return m, err
	}
	if c.simulate == 0 || (hour+1)%c.simulate != 0 {
		return m, nil
	}
	v, err := at.simulation(nodes, now)
	m.Simulation = &v
	return m, err
}
