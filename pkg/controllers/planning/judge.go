package planning

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/remediation"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/proposals"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// leastSince and leastBefore are how many intervals of each node a judgement takes.
	leastSince, leastBefore = 3, 2
	// nodeField selects pods by their node.
	nodeField = "spec.nodeName"
)

// Judge judges changes by what gauges observed on the nodes that they concern before they were started, and since they were made.
type Judge struct {
	// Client reads policies, namespaces and profiles from the manager's cache, and API nodes and pods past it.
	Client, API client.Reader
	// Collected is what gauges observed.
	Collected *collected.History
	Clock     clock.PassiveClock
}

var _ remediation.Judge = &Judge{}

// views are what gauges saw of nodes before a change and since.
type views struct{ before, since observed.Input }

// Judge judges a change.
func (j *Judge) Judge(ctx context.Context, r *v1alpha1.Remediation) (remediation.Judgement, error) {
	change := proposals.Change(r)
	pod := r.Spec.Pod
	if r.Status.Replacement != nil {
		pod = *r.Status.Replacement
	}
	if change.Action == plan.MovePod && pod.Node == change.Node {
		return remediation.Judgement{Unknown: "the pod in the place of the evicted one is on the same node", Final: true}, nil
	}
	seen, unknown, err := j.look(ctx, r, slices.Compact([]string{change.Node, pod.Node}))
	if err != nil || unknown.Unknown != "" {
		return unknown, err
	}
	policies, err := readPolicies(ctx, j.Client)
	if err != nil {
		return remediation.Judgement{}, err
	}
	o := plan.Options{Above: proposals.Above(policies)}
	if _, o.Promise, err = readPromises(ctx, j.Client); err != nil {
		return remediation.Judgement{}, err
	}
	before, since := observed.Observe(&seen.before, o.Above), observed.Observe(&seen.since, o.Above)
	before.SolveAll()
	since.SolveAll()
	proof, err := plan.Prove(before, since, change, proposals.Now(r), &o)
	switch {
	case err != nil: // what is observed later may have an answer
		return remediation.Judgement{Unknown: err.Error()}, nil //nolint:nilerr // the change says so
	case proof.Unknown != "":
		return remediation.Judgement{Unknown: proof.Unknown}, nil
	}
	return remediation.Judgement{
		Win: proof.Win.Value, Low: proof.Win.Low, High: proof.Win.High, CostsOthers: proposals.Costs(r, proof, o.Above),
	}, nil
}

// look returns what was seen of the nodes that a change concerns, or what of it is not known.
func (j *Judge) look(ctx context.Context, r *v1alpha1.Remediation, nodes []string) (seen *views, unknown remediation.Judgement, err error) {
	now := j.Clock.Now()
	var all v1alpha1.RemediationList
	if err := j.Client.List(ctx, &all); err != nil {
		return nil, unknown, fmt.Errorf("listing Remediations: %w", err)
	}
	earlier := madeBefore(r, all.Items)
	seen = &views{}
	seen.before.WithoutDisks, seen.since.WithoutDisks = true, true // of the older time nothing is kept of them
	seen.before.Window = now.Sub(r.Status.AppliedTime.Time)
	seen.since.Window = seen.before.Window
	for _, name := range nodes {
		before, since, unknown := j.report(r, name, earlier[name], now)
		if unknown.Unknown != "" {
			return nil, unknown, nil
		}
		seen.before.Sights, seen.since.Sights = append(seen.before.Sights, before), append(seen.since.Sights, since)
		node := &corev1.Node{}
		if err := j.API.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			if apierrors.IsNotFound(err) {
				return nil, remediation.Judgement{Unknown: fmt.Sprintf("node %s is gone", name), Final: true}, nil
			}
			return nil, unknown, fmt.Errorf("reading node %s: %w", name, err)
		}
		pods, err := readPods(ctx, j.API, client.MatchingFields{nodeField: name})
		if err != nil {
			return nil, unknown, err
		}
		seen.since.Nodes, seen.since.Pods = append(seen.since.Nodes, *node), append(seen.since.Pods, pods...)
	}
	seen.before.Nodes = seen.since.Nodes
	seen.before.Pods = slices.Clone(seen.since.Pods)
	i := slices.IndexFunc(seen.before.Pods, func(p corev1.Pod) bool { return p.Namespace+"/"+p.Name == proposals.Now(r) })
	if i < 0 {
		return nil, remediation.Judgement{Unknown: fmt.Sprintf("%s is gone", proposals.Now(r))}, nil
	}
	seen.before.Pods[i] = *proposals.Before(r, &seen.since.Pods[i])
	return seen, remediation.Judgement{}, nil
}

// report returns what the gauge of a node saw before a change, but after an earlier one, and since, or what of it is not known.
func (j *Judge) report(r *v1alpha1.Remediation, node string, earlier, now time.Time) (before, after observed.Sight, unknown remediation.Judgement) {
	report, is := j.Collected.Report(node, usage.MaxIntervals)
	if !is {
		return before, after, remediation.Judgement{Unknown: fmt.Sprintf("node %s: nothing was collected from its gauge for %v", node, collected.Forget)}
	}
	settled := usage.Report{AgeSeconds: report.AgeSeconds, Intervals: since(&report, earlier, now)}
	before = observed.Sight{Node: node, Intervals: until(&settled, r.Status.StartTime.Time, now)}
	after = observed.Sight{Node: node, Intervals: since(&report, r.Status.AppliedTime.Time, now), Age: seconds(report.AgeSeconds)}
	switch {
	case len(after.Intervals) < leastSince:
		unknown.Unknown = fmt.Sprintf("node %s: %d of the %d intervals that it takes were collected since the change was made", node, len(after.Intervals), leastSince)
	case len(before.Intervals) < leastBefore: // there will be no more
		unknown.Final = true
		unknown.Unknown = fmt.Sprintf(
			"node %s: %d of the %d intervals that it takes are kept of the time before the change, and after an earlier one: the manager keeps an hour, and what gauges kept when it began to lead",
			node, len(before.Intervals), leastBefore)
	}
	return before, after, unknown
}
