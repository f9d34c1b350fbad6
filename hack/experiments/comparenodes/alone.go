package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/experiments/program"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// warm is for how long programs go through rounds before these count.
	warm = time.Second
	// gap is the time between two programs that run alone, one after the other.
	gap = 500 * time.Millisecond
	// leastRequest is what a pod that runs alone requests, in thousandths of a core: all must fit on the node.
	leastRequest = 10
)

// runAllAlone runs all programs alone on each of the nodes.
func (c *comparer) runAllAlone(ctx context.Context) error {
	for _, node := range workers() {
		if err := c.again(ctx, func(ctx context.Context) error { return c.runAlone(ctx, node) }); err != nil {
			return fmt.Errorf("programs alone on node %s: %w", node, err)
		}
	}
	return nil
}

// runAlone runs all programs on a node, one after the other, with a gauge: all are there, and sleep until it is their turn.
func (c *comparer) runAlone(ctx context.Context, node string) error {
	c.Log.Step("each of %d programs alone on node %s, %v", len(c.Programs), node, time.Duration(len(c.Programs))*(warm+c.aloneFor+gap))
	begin := time.Now().Add(2 * c.lead)
	pods, whens := make([]*corev1.Pod, len(c.Programs)), make([]program.Schedule, len(c.Programs))
	for i := range c.Programs {
		at := begin.Add(time.Duration(i) * (warm + c.aloneFor + gap))
		whens[i] = program.Schedule{Start: at, From: at.Add(warm), To: at.Add(warm + c.aloneFor)}
		pods[i] = c.podOf(&c.Programs[i], leastRequest, whens[i])
		pods[i].Spec.NodeName = node
	}
	intervals := make([]*usage.Interval, len(pods))
	var words []string
	group, running := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		for i := range pods {
			if intervals[i], err = c.gauge(running, whens[i]); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() (err error) {
		words, err = c.RunPods(running, pods)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	accounts, err := accountsOf(pods, words)
	if err != nil {
		return err
	}
	for i, pod := range pods {
		seen, err := seenOf(intervals[i], pod)
		if err != nil {
			return err
		}
		c.Alone = append(c.Alone, Alone{i, node, accounts[i], seen})
	}
	return c.write(c.out)
}

// gauge has a gauge observe this machine while a program runs alone.
func (c *comparer) gauge(ctx context.Context, when program.Schedule) (*usage.Interval, error) {
	if _, err := at(ctx, when.From); err != nil {
		return nil, err
	}
	const margin = 100 * time.Millisecond // for reading twice
	interval := time.Until(when.To) - margin
	command := exec.CommandContext(ctx, filepath.Join(c.Root(), "bin", "loadline-gauge"), "once", "--interval", interval.String(), "--pod-logs", "")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("loadline-gauge: %w\n%s", err, stderr.String())
	}
	v := &usage.Interval{}
	if err := json.Unmarshal(stdout.Bytes(), v); err != nil {
		return nil, fmt.Errorf("loadline-gauge: %w", err)
	}
	return v, v.Validate()
}

// seenOf returns what a gauge saw of a pod in an interval.
func seenOf(v *usage.Interval, pod *corev1.Pod) (usage.Pod, error) {
	for _, seen := range v.Pods {
		if seen.UID == string(pod.UID) {
			return seen, nil
		}
	}
	return usage.Pod{}, fmt.Errorf("the gauge did not see pod %s", pod.Name)
}

// declare makes a profile of each program of what gauges saw.
func (c *comparer) declare(ctx context.Context) error {
	for i := range c.Programs {
		loading, threads := c.seen(i)
		err := c.Declare(ctx, c.Programs[i].Name, v1alpha1.ResourceDemand{
			Name: string(corev1.ResourceCPU), Loading: start.Fraction(loading), Threads: new(int32(math.Round(threads))),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
