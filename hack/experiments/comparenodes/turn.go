package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/experiments/program"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/hack/local"
)

// take has a scheduler place the pods of a batch, one after the other on two empty nodes, and measures them together.
func (c *comparer) take(ctx context.Context, batch int, s scheduler) error {
	from := time.Now().Add(c.lead)
	when := program.Schedule{Start: from.Add(-warm), From: from, To: from.Add(c.window)}
	t := &Turn{Batch: batch, Scheduler: s.name}
	used := make([]float64, len(c.Batches[batch]))
	for i, p := range c.Batches[batch] {
		used[i] = c.used(p.Program)
	}
	t.Requests = c.Batches[batch].requests(used)
	pods := make([]*corev1.Pod, len(used))
	for i, p := range c.Batches[batch] {
		pods[i] = c.podOf(&c.Programs[p.Program], t.Requests[i], when)
		pods[i].Spec.SchedulerName = s.schedulerName
	}
	defer c.discard(ctx, pods)
	if err := c.arrive(ctx, t, pods); err != nil {
		return err
	}
	if err := c.measure(ctx, t, pods, when); err != nil {
		return err
	}
	c.Turns = append(c.Turns, *t)
	return c.write(c.out)
}

// arrive has pods come one after the other, each when the one before has a node.
func (c *comparer) arrive(ctx context.Context, t *Turn, pods []*corev1.Pod) error {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, pod := range pods {
		if err := c.Create(ctx, pod); err != nil {
			return err
		}
		_, err := local.AwaitPods(ctx, c, start.Namespace, func(all map[string]*corev1.Pod) bool {
			now := all[pod.Name]
			if now == nil || now.Spec.NodeName == "" {
				return false
			}
			t.Nodes = append(t.Nodes, now.Spec.NodeName)
			return true
		})
		if err != nil {
			return fmt.Errorf("waiting for %s to place %s: %w", t.Scheduler, pod.Name, err)
		}
	}
	for _, node := range t.Nodes {
		if !slices.Contains(workers(), node) {
			return fmt.Errorf("%s placed a pod on node %s, which is none of %q", t.Scheduler, node, workers())
		}
	}
	return nil
}

// workers are the nodes.
func workers() []string { return []string{start.First, start.Second} }

// measure waits for the pods to end, and for what else the machine did meanwhile.
func (c *comparer) measure(ctx context.Context, t *Turn, pods []*corev1.Pod, when program.Schedule) error {
	group, running := errgroup.WithContext(ctx)
	var words []string
	var busy busyTimes
	group.Go(func() (err error) {
		words, err = c.AwaitEnded(running, pods)
		return err
	})
	group.Go(func() (err error) {
		busy, err = busyBetween(running, when.From, when.To)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	var err error
	if t.Accounts, err = accountsOf(pods, words); err != nil {
		return err
	}
	for _, a := range t.Accounts {
		busy.running -= a.Computed
	}
	t.Others, t.Stolen = busy.running/c.window.Seconds(), busy.stolen/c.window.Seconds()
	return nil
}

// discard deletes pods. Those that have ended are gone for schedulers already.
func (c *comparer) discard(ctx context.Context, pods []*corev1.Pod) {
	for _, pod := range pods {
		if err := client.IgnoreNotFound(c.Delete(context.WithoutCancel(ctx), pod, client.GracePeriodSeconds(0))); err != nil {
			c.Log.Step("deleting pod %s: %v", pod.Name, err)
		}
	}
}
