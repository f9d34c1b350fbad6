package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/report/chart"
)

// shared lets kube-scheduler and Loadline place the pods of a shared cluster, on a control plane that it starts for them.
func shared(ctx context.Context, o *options) (err error) {
	s, err := scenario.New(o.Options)
	if err != nil {
		return err
	}
	fmt.Printf(`
2. A shared cluster, placed by kube-scheduler and by Loadline

Services, batch jobs, programs that live off the disk and others that live off the
network share nodes of 8, 16 and 32 cores, with a disk and a network link for every
8 cores. The cluster is made up, drawn from a seed. It begins with
%s.
As in real clusters requests are guesses: on average pods use half of what they
request, some twice as much and others a tenth. Profiles are off, too, each loading
by some 20 %%. Hour by hour some pods leave and others come. The schedulers and the
API server are real, KWOK stands in for kubelets. docs/evidence/better.md says how the
cluster was made, and compares more schedulers.

`, s.Describe())
	root, err := local.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "loadline-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	progress := comparison.NewProgress(os.Stderr)
	progress.Step("building loadline-scheduler (minutes the first time)")
	program, err := local.Build(ctx, root, dir, "loadline-scheduler")
	if err != nil {
		return err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Err(), plane.Stop()) }()
	c, err := comparison.NewCluster(plane, root, dir, map[string]string{comparison.Loadline: program}, progress)
	if err != nil {
		return err
	}
	return place(ctx, c, s, root, o.out)
}

// place lets one scheduler after the other place the pods, and shows the result.
func place(ctx context.Context, c *comparison.Cluster, s *scenario.Scenario, root, out string) error {
	if err := c.Prepare(ctx, s); err != nil {
		return err
	}
	judges := comparison.NewJudges(s, nodesim.New())
	var runs []comparison.Runs
	var samples []chart.Sample
	for _, name := range []string{"kube-scheduler", comparison.Loadline} {
		scheduler, err := comparison.SchedulerNamed(root, name)
		if err != nil {
			return err
		}
		o, err := c.Run(ctx, s, scheduler, judges)
		if err != nil {
			return fmt.Errorf("placing with %s: %w", name, err)
		}
		runs = append(runs, comparison.Runs{Name: name, Of: []comparison.Figures{o.Figures}})
		samples = append(samples, chart.Sample{Name: name, Values: o.Dilations})
	}
	rows := comparison.Summarize(runs)
	fmt.Println()
	if err := comparison.WriteTable(os.Stdout, rows); err != nil {
		return err
	}
	fmt.Println("\n" + comparison.Headline(&rows[0], &rows[1]))
	fmt.Print(`
A dilation says how many times longer a pod takes than it would alone, and the excess
is what it is above 1. The simulation is one of the Linux scheduler, of disks and of
links, which shares nothing with the model by which Loadline places pods, and the
model is that. Nothing is measured here.
`)
	return writeCharts(comparison.Chart(samples), filepath.Join(out, "shared-dilation"))
}
