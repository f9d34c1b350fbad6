package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/report/chart"
)

// comparer is a comparison that goes on.
type comparer struct {
	*options
	progress *comparison.Progress
	cluster  *comparison.Cluster // nil without real schedulers
	real     []*comparison.Scheduler
	runs     []comparison.Runs
	samples  []chart.Sample
	found    *found
}

// place lets all schedulers place the pods of all seeds, and saves what is known after each.
func (c *comparer) place(ctx context.Context) (err error) {
	if names := list(c.schedulers); len(names) > 0 {
		stop, wrong := c.start(ctx, names)
		if wrong != nil {
			return wrong
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	for seed := 1; seed <= c.seeds; seed++ {
		c.Seed = uint64(seed)
		s, err := scenario.New(c.Options)
		if err != nil {
			return err
		}
		c.progress.Step("seed %d: %s", seed, s.Describe())
		if err := c.placeOne(ctx, s); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		if err := c.save(); err != nil { // what comes next may take hours
			return err
		}
	}
	return nil
}

// start starts a control plane for real schedulers.
func (c *comparer) start(ctx context.Context, names []string) (stop func() error, err error) {
	root, err := local.Root(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s, err := comparison.SchedulerNamed(root, name)
		if err != nil {
			return nil, err
		}
		c.real = append(c.real, s)
	}
	dir, err := os.MkdirTemp("", "loadline-compare-")
	if err != nil {
		return nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	c.progress.Step("building loadline-scheduler (minutes the first time)")
	scheduler, err := local.Build(ctx, root, dir, "loadline-scheduler")
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr, WithoutControllerManager: true})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	stop = func() error { return errors.Join(plane.Err(), plane.Stop(), remove()) }
	programs := map[string]string{comparison.Loadline: scheduler, comparison.Trimaran: c.trimaran}
	if c.cluster, err = comparison.NewCluster(plane, root, dir, programs, c.progress); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// seed is the comparison of one.
type seed struct {
	*comparer
	scenario *scenario.Scenario
	nodes    *nodesim.Judge
	judges   comparison.Judges
	names    []string
	outcomes []*comparison.Outcome
}

// placeOne lets all schedulers place the pods of a scenario, and searches for a better placement than the best at the end of
// the first.
func (c *comparer) placeOne(ctx context.Context, s *scenario.Scenario) error {
	nodes := nodesim.New()
	nodes.Precision = c.precision
	if c.devices == "fifo" {
		nodes.Discipline = nodesim.FIFO
	}
	of := &seed{comparer: c, scenario: s, nodes: nodes, judges: comparison.NewJudges(s, nodes)}
	for _, scheduler := range c.real {
		if err := of.runReal(ctx, scheduler.Name, scheduler, s); err != nil {
			return err
		}
	}
	for _, policy := range list(c.policies) {
		if err := of.runPolicy(ctx, "policy "+policy, policy, s); err != nil {
			return err
		}
	}
	if err := of.runWrong(ctx); err != nil {
		return err
	}
	c.add(of.names, of.outcomes)
	if c.search == 0 || c.found != nil {
		return nil
	}
	return of.improve()
}

// runReal lets a real scheduler place the pods of the scenario, or of one with other profiles.
func (of *seed) runReal(ctx context.Context, name string, scheduler *comparison.Scheduler, s *scenario.Scenario) error {
	if err := of.cluster.Prepare(ctx, s); err != nil {
		return err
	}
	o, err := of.cluster.Run(ctx, s, scheduler, of.judges)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	of.names, of.outcomes = append(of.names, name), append(of.outcomes, o)
	return nil
}

// runPolicy lets a policy of replays place them.
func (of *seed) runPolicy(ctx context.Context, name, policy string, s *scenario.Scenario) error {
	placer, err := comparison.NewOffline(s, policy)
	if err != nil {
		return err
	}
	o, err := comparison.Run(ctx, s, placer, of.judges)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	of.names, of.outcomes = append(of.names, name), append(of.outcomes, o)
	return nil
}

// runWrong lets Loadline and its policy, if they are compared, place the pods with wrong profiles.
func (of *seed) runWrong(ctx context.Context) error {
	sets, err := of.profileSets()
	if err != nil {
		return err
	}
	first := of.outcomes[0].First
	for _, set := range sets {
		s, err := set.of(of.scenario, func() (map[string]loading.Vector, error) {
			return comparison.Observed(of.scenario, first, comparison.NewSimulation(of.scenario, of.nodes))
		})
		if err != nil {
			return err
		}
		for _, scheduler := range of.real {
			if scheduler.Name != comparison.Loadline {
				continue
			}
			if err := of.runReal(ctx, scheduler.Name+", "+set.name, scheduler, s); err != nil {
				return err
			}
		}
		for _, policy := range list(of.policies) {
			if policy != (placement.LeastDilation{}).Name() {
				continue
			}
			if err := of.runPolicy(ctx, "policy "+policy+", "+set.name, policy, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds the outcomes of a seed to those of earlier ones.
func (c *comparer) add(names []string, outcomes []*comparison.Outcome) {
	for i, o := range outcomes {
		if i == len(c.runs) {
			c.runs = append(c.runs, comparison.Runs{Name: names[i]})
			c.samples = append(c.samples, chart.Sample{Name: names[i]})
		}
		c.runs[i].Of = append(c.runs[i].Of, o.Figures)
		c.samples[i].Values = append(c.samples[i].Values, o.Dilations...)
	}
}
