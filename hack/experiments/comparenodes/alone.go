package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
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

// runAlone runs all programs on a node, one after the other: all are there, and sleep until it is their turn. A gauge may observe
// them.
func (c *comparer) runAlone(ctx context.Context, node string, gauge bool) error {
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
	group, running := errgroup.WithContext(ctx)
	if gauge {
		group.Go(func() (err error) {
			for i := range pods {
				if intervals[i], err = c.gauge(running, whens[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var words []string
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
	for i, a := range accounts {
		c.Alone = append(c.Alone, Alone{Program: i, Node: node, Account: a})
	}
	if gauge {
		if c.Observed, err = seen(pods, intervals); err != nil {
			return err
		}
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

// seen returns what a gauge saw of each pod in its interval.
func seen(pods []*corev1.Pod, intervals []*usage.Interval) ([]usage.Pod, error) {
	all := make([]usage.Pod, len(pods))
	for i, pod := range pods {
		k := slices.IndexFunc(intervals[i].Pods, func(p usage.Pod) bool { return p.UID == string(pod.UID) })
		if k < 0 {
			return nil, fmt.Errorf("the gauge did not see pod %s", pod.Name)
		}
		all[i] = intervals[i].Pods[k]
	}
	return all, nil
}

// declare makes a profile of each program of what a gauge saw.
func (c *comparer) declare(ctx context.Context) error {
	for i, s := range c.Observed {
		err := c.Declare(ctx, c.Programs[i].Name, v1alpha1.ResourceDemand{
			Name: string(corev1.ResourceCPU), Loading: start.Fraction(s.CPULoading), Threads: new(int32(math.Round(s.Threads))),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
