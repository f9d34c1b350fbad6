package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/hack/loadwatcher"
	"loadline.dev/loadline/hack/local"
)

// scheduler is a scheduler, and what pods name it.
type scheduler struct{ name, schedulerName string }

// The schedulers, in the order of the table.
const (
	kubeScheduler = "kube-scheduler"
	trimaran      = "Trimaran"
	loadline      = "Loadline"
)

func schedulers() []scheduler {
	return []scheduler{{kubeScheduler, corev1.DefaultSchedulerName}, {trimaran, "trimaran"}, {loadline, "loadline"}}
}

//go:embed trimaran.yaml
var trimaranProfiles string

// requestsMultiplier is Trimaran's default: what it takes a pod to use over what it requests.
const requestsMultiplier = 1.5

// startTrimaran starts Trimaran, and a load watcher that says that nodes are empty: pods of a batch are too young to be measured.
func (c *comparer) startTrimaran(ctx context.Context) (stop func() error, err error) {
	c.Log.Step("starting Trimaran")
	multiplier, err := c.multiplier(ctx)
	if err != nil {
		return nil, err
	}
	const starting = 20 * time.Second
	watcher, err := loadwatcher.Start(ctx, map[string]float64{start.First: 0, start.Second: 0}, starting)
	if err != nil {
		return nil, err
	}
	values := map[string]string{"LOAD_WATCHER": watcher.Address, "MULTIPLIER": fmt.Sprint(multiplier)}
	config, err := local.SchedulerConfig(c.out, c.Kubeconfig(), os.Expand(trimaranProfiles, func(name string) string { return values[name] }))
	if err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	process, err := local.StartScheduler(ctx, c.trimaran, config)
	if err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	return func() error { return errors.Join(process.Stop(), watcher.Close()) }, nil
}

// multiplier returns the multiplier with which Trimaran sees nodes of one core.
func (c *comparer) multiplier(ctx context.Context) (float64, error) {
	node := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: start.First}, node); err != nil {
		return 0, err
	}
	return requestsMultiplier * node.Status.Capacity.Cpu().AsApproximateFloat64() / node.Status.Allocatable.Cpu().AsApproximateFloat64(), nil
}
