package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/chaos/invariant"
	"loadline.dev/loadline/hack/cluster/controlplane"
)

// outcome is what came of a seed.
type outcome struct {
	seed    uint64
	faults  []fault // those that were injected
	skipped int
	broken  []broken
	settled time.Duration
	last    []string // what was broken last while the cluster settled
	took    time.Duration
}

// try has the faults of a seed happen, and judges what becomes of the cluster. An error is one of the harness.
func (c *cluster) try(ctx context.Context, o *options, seed uint64, out io.Writer) (*outcome, error) {
	began := time.Now()
	result := &outcome{seed: seed}
	l := newLoad(c, seed)
	if err := eventually(ctx, o.settle, l.begin); err != nil {
		return nil, fmt.Errorf("creating the load of seed %d: %w", seed, err)
	}
	schedule := draw(seed, c.targets(), o.faults)
	fmt.Fprintf(out, "seed %d\n", seed)
	loading, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.run(loading)
	}()
	victims := c.carryOut(ctx, schedule, l, result, out)
	err := c.healAll(ctx, victims, o.settle)
	stop()
	<-done
	if err != nil {
		return nil, fmt.Errorf("healing seed %d: %w", seed, err)
	}
	healed := time.Now()
	if err := eventually(ctx, o.settle, l.rest); err != nil {
		return nil, fmt.Errorf("bringing the load of seed %d to rest: %w", seed, err)
	}
	if result.last, err = c.judge(ctx, o, l); err != nil {
		return nil, err
	}
	result.settled = time.Since(healed)
	if err := c.clean(ctx, l, o.settle); err != nil {
		return nil, err
	}
	result.broken, result.took = c.history.take(), time.Since(began)
	return result, ctx.Err()
}

// carryOut injects faults at their times, and heals them at theirs. It returns those that are not healed yet.
func (c *cluster) carryOut(ctx context.Context, schedule []fault, l *load, result *outcome, out io.Writer) (left []*victim) {
	began := time.Now()
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	last := time.Duration(0)
	for _, f := range schedule {
		last = max(last, f.At+f.For)
	}
	for {
		select {
		case <-ctx.Done():
			return left
		case <-ticks.C:
		}
		now := time.Since(began)
		for len(schedule) > 0 && schedule[0].At <= now {
			f := schedule[0]
			schedule = schedule[1:]
			within, cancel := context.WithTimeout(ctx, 3*time.Second)
			v, err := c.inject(within, f, l)
			cancel()
			switch {
			case v == nil: // something else fails
				fmt.Fprintf(out, "  %s (not injected: %v)\n", f, err)
				result.skipped++
				continue
			case err != nil:
				fmt.Fprintf(out, "  %s (perhaps: %v)\n", f, err)
			default:
				fmt.Fprintf(out, "  %s\n", f)
			}
			result.faults = append(result.faults, f)
			left = append(left, v)
		}
		left = slices.DeleteFunc(left, func(v *victim) bool {
			if now < v.At+v.For {
				return false
			}
			within, cancel := context.WithTimeout(ctx, 3*time.Second)
			defer cancel()
			return v.heal(within) == nil // it is tried again
		})
		if len(schedule) == 0 && (len(left) == 0 || now > last+10*time.Second) {
			return left
		}
	}
}

// healAll heals what is left, and returns once the API server takes writes.
func (c *cluster) healAll(ctx context.Context, left []*victim, within time.Duration) error {
	err := eventually(ctx, within, func(ctx context.Context) error {
		var errs []error
		left = slices.DeleteFunc(left, func(v *victim) bool {
			err := v.heal(ctx)
			errs = append(errs, err)
			return err == nil
		})
		return errors.Join(errs...)
	})
	if err != nil {
		return err
	}
	return c.refresh(ctx)
}

// refresh starts what plays the rest of Kubernetes anew. It is not what is tested, and does not get over everything: KWOK forgets pods of a
// node that it did not play for a while, and controllers wait for events that they missed.
func (c *cluster) refresh(ctx context.Context) error {
	c.setDown(controlplane.KWOK, true)
	for _, part := range []string{controlplane.ControllerManager, controlplane.Scheduler, controlplane.KWOK} {
		_ = c.plane.Kill(part) // it may have ended
	}
	// Those of the KWOK before, for whose end another one waits. One that runs does not get over their loss.
	err := eventually(ctx, time.Minute, func(ctx context.Context) error {
		return c.DeleteAllOf(ctx, &coordinationv1.Lease{}, client.InNamespace(corev1.NamespaceNodeLease))
	})
	c.setDown(controlplane.KWOK, false)
	if err != nil {
		return err
	}
	return eventually(ctx, time.Minute, func(ctx context.Context) error {
		var errs []error
		for _, part := range planeParts {
			errs = append(errs, c.plane.Revive(ctx, part))
		}
		return errors.Join(errs...)
	})
}

// eventually does something until it succeeds.
func eventually(ctx context.Context, within time.Duration, do func(context.Context) error) error {
	deadline := time.Now().Add(within)
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		try, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := do(try)
		cancel()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
}

// judge waits until all invariants of a settled cluster hold, and reports those that do not. It returns what was broken last before that.
func (c *cluster) judge(ctx context.Context, o *options, l *load) (last []string, err error) {
	var wrong map[string][]string
	err = eventually(ctx, o.settle+time.Minute, func(ctx context.Context) error {
		s, err := c.state(ctx, l)
		if err != nil {
			return err
		}
		wrong = map[string][]string{}
		for _, rule := range invariant.AllSettled() {
			if texts := rule.Broken(s); len(texts) > 0 {
				wrong[rule.Name] = texts
			}
		}
		switch {
		case len(wrong) == 0:
			return nil
		case time.Since(l.rested) > o.settle:
			for rule, texts := range wrong {
				c.history.report(rule, texts...)
			}
			return nil
		default:
			last = slices.Concat(slices.Collect(maps.Values(wrong))...)
			return errNotSettled
		}
	})
	return last, err
}

// errNotSettled says that an invariant does not hold yet.
var errNotSettled = errors.New("the cluster has not settled")

// state reads the cluster.
func (c *cluster) state(ctx context.Context, l *load) (*invariant.State, error) {
	var (
		namespaces corev1.NamespaceList
		nodes      corev1.NodeList
		pods       corev1.PodList
		apps       appsv1.DeploymentList
		sets       appsv1.StatefulSetList
		jobs       batchv1.JobList
		workloads  v1alpha1.WorkloadProfileList
		classes    v1alpha1.NodeProfileList
		plans      v1alpha1.PoolPlanList
		trees      v1alpha1.ShareTreeList
		replays    v1alpha1.TraceReplayList
		policies   v1alpha1.RemediationPolicyList
		changes    v1alpha1.RemediationList
	)
	for _, list := range []client.ObjectList{&namespaces, &nodes, &pods, &apps, &sets, &jobs, &workloads, &classes, &plans, &trees, &replays, &policies, &changes} {
		if err := c.List(ctx, list); err != nil {
			return nil, err
		}
	}
	rates, err := c.rates.numbers()
	if err != nil {
		return nil, err
	}
	return &invariant.State{
		Now: time.Now(), Namespaces: namespaces.Items, Nodes: nodes.Items, Pods: pods.Items, Deployments: apps.Items, StatefulSets: sets.Items, Jobs: jobs.Items,
		WorkloadProfiles: workloads.Items, NodeProfiles: classes.Items, PoolPlans: plans.Items, ShareTrees: trees.Items, TraceReplays: replays.Items,
		Policies: policies.Items, Remediations: changes.Items, Rates: rates, Bare: l.expected(),
	}, nil
}

// clean deletes the load, and reports what does not go.
func (c *cluster) clean(ctx context.Context, l *load, within time.Duration) error {
	var left []string
	err := eventually(ctx, within, func(ctx context.Context) error {
		left = nil
		for _, o := range l.objects() {
			err := c.Get(ctx, client.ObjectKeyFromObject(o), o)
			switch {
			case apierrors.IsNotFound(err):
				continue
			case err != nil:
				return err
			case o.GetDeletionTimestamp() == nil:
				if err := client.IgnoreNotFound(c.Delete(ctx, o)); err != nil {
					return err
				}
			}
			left = append(left, fmt.Sprintf("%T %s", o, o.GetName()))
		}
		if len(left) > 0 {
			return errNotSettled
		}
		return nil
	})
	if errors.Is(err, errNotSettled) {
		c.history.report("no object is left behind", "after their deletion there still are "+strings.Join(left, ", "))
		return nil
	}
	return err
}

// panics returns what the logs of Loadline's programs have of panics since they were read last.
func (c *cluster) panics(from map[string]int64) (found []string, err error) {
	for name := range c.programs {
		path := filepath.Join(c.logs(), name+".log")
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found = append(found, invariant.Panics(name, string(content[from[name]:]))...)
		from[name] = int64(len(content))
	}
	return found, nil
}
