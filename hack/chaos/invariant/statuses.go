package invariant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/evaluate/profiles"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/evaluate/shares"
)

// differs describes how a status is another one than it should be, "" where it is not.
func differs(what string, is, should any) string {
	if equality.Semantic.DeepEqual(is, should) {
		return ""
	}
	return fmt.Sprintf("the status of %s is not what it should be (-should +is):\n%s", what, cmp.Diff(should, is))
}

// add appends a text that is not empty.
func add(to []string, text string) []string {
	if text == "" {
		return to
	}
	return append(to, text)
}

// ProfilesTrue computes the statuses of profiles anew.
func ProfilesTrue(s *State) (broken []string) {
	now := metav1.NewTime(s.Now)
	byNamespace, pods := map[string][]v1alpha1.WorkloadProfile{}, map[string][]labels.Set{}
	for _, p := range s.WorkloadProfiles {
		byNamespace[p.Namespace] = append(byNamespace[p.Namespace], p)
	}
	for i := range s.Pods {
		if pod := &s.Pods[i]; !terminated(pod) {
			pods[pod.Namespace] = append(pods[pod.Namespace], pod.Labels)
		}
	}
	for namespace, all := range byNamespace {
		for i, status := range profiles.WorkloadProfiles(all, pods[namespace], s.NodeProfiles, now) {
			broken = add(broken, differs("WorkloadProfile "+names(&all[i]), all[i].Status, status))
		}
	}
	nodes := make([]labels.Set, len(s.Nodes))
	for i := range s.Nodes {
		nodes[i] = s.Nodes[i].Labels
	}
	for i, status := range profiles.NodeProfiles(s.NodeProfiles, nodes, now) {
		broken = add(broken, differs("NodeProfile "+s.NodeProfiles[i].Name, s.NodeProfiles[i].Status, status))
	}
	slices.Sort(broken)
	return broken
}

// ShareTreesTrue computes the statuses of trees anew.
func ShareTreesTrue(s *State) (broken []string) {
	for i := range s.ShareTrees {
		tree := &s.ShareTrees[i]
		members := slices.Clone(s.WorkloadProfiles)
		members = slices.DeleteFunc(members, func(p v1alpha1.WorkloadProfile) bool {
			return p.Spec.FairShare == nil || p.Spec.FairShare.Tree != tree.Name
		})
		answer, why := shares.OfTree(context.Background(), shares.TreeInput{Tree: tree, Profiles: members})
		broken = add(broken, differs("ShareTree "+tree.Name, tree.Status, shares.Status(tree, answer, why, metav1.NewTime(s.Now))))
	}
	return broken
}

// PoolPlansTrue computes anew what pools need, by what Prometheus answers, and compares the numbers of replicas.
func PoolPlansTrue(s *State) (broken []string) {
	for i := range s.PoolPlans {
		plan := &s.PoolPlans[i]
		in := pools.Input{Plan: plan, Profiles: s.WorkloadProfiles, Quick: true}
		for _, c := range plan.Spec.Classes {
			if c.Arrival != nil && c.Arrival.Query != "" {
				in.Measured = append(in.Measured, pools.Measurement{Class: c.Name, Arrival: &pools.Reading{Value: s.Rates[c.Arrival.Query]}})
			}
		}
		answer, err := pools.Plan(context.Background(), in)
		if err != nil {
			broken = append(broken, fmt.Sprintf("PoolPlan %s has no answer: %v", plan.Name, err))
			continue
		}
		for k := range answer.Pools {
			broken = append(broken, s.pool(plan, &answer.Pools[k])...)
		}
	}
	return broken
}

// pool compares a pool with its answer.
func (s *State) pool(plan *v1alpha1.PoolPlan, pool *pools.PoolAnswer) (broken []string) {
	k := slices.IndexFunc(plan.Status.Pools, func(p v1alpha1.PoolStatus) bool { return p.Name == pool.Name })
	if k < 0 || pool.Bounds == nil {
		return []string{fmt.Sprintf("PoolPlan %s says nothing of pool %s", plan.Name, pool.Name)}
	}
	is, spec := &plan.Status.Pools[k], &plan.Spec.Pools[slices.IndexFunc(plan.Spec.Pools, func(p v1alpha1.PlannedPool) bool { return p.Name == pool.Name })]
	if is.DesiredReplicas == nil || int(*is.DesiredReplicas) != pool.Bounds.Replicas {
		broken = append(broken, fmt.Sprintf("PoolPlan %s says that pool %s needs %v replicas, and it needs %d", plan.Name, pool.Name, value(is.DesiredReplicas), pool.Bounds.Replicas))
	}
	for i := range s.Deployments {
		d := &s.Deployments[i]
		if t := spec.ScaleTarget; t == nil || d.Namespace != t.Namespace || d.Name != t.Name {
			continue
		}
		if is.CurrentReplicas == nil || *is.CurrentReplicas != *d.Spec.Replicas {
			broken = append(broken, fmt.Sprintf("PoolPlan %s says that pool %s has %v replicas, and it has %d", plan.Name, pool.Name, value(is.CurrentReplicas), *d.Spec.Replicas))
		}
		if n := int(*d.Spec.Replicas); n < pool.Bounds.Replicas || n > pool.Bounds.ReplicasToKeep {
			broken = append(broken, fmt.Sprintf("Deployment %s has %d replicas, and the pool needs %d and keeps %d", names(d), n, pool.Bounds.Replicas, pool.Bounds.ReplicasToKeep))
		}
	}
	return broken
}

// value returns what a pointer points at, for messages.
func value(n *int32) any {
	if n == nil {
		return "unknown"
	}
	return *n
}

// stepWithin is for how long a Remediation may be in a step that waits for nothing but the API server and KWOK.
const stepWithin = time.Minute

// RemediationsTrue compares Remediations with their pods, and computes the statuses of policies anew.
func RemediationsTrue(s *State) (broken []string) {
	for i := range s.Remediations {
		broken = append(broken, s.remediation(&s.Remediations[i])...)
	}
	namespaces := map[string]labels.Set{}
	for i := range s.Namespaces {
		namespaces[s.Namespaces[i].Name] = s.Namespaces[i].Labels
	}
	var chosen []remediations.Pod
	for i := range s.Pods {
		if p := &s.Pods[i]; !terminated(p) {
			chosen = append(chosen, remediations.Pod{Namespace: p.Namespace, NamespaceLabels: namespaces[p.Namespace], Labels: p.Labels})
		}
	}
	conflicts := remediations.Conflicts(remediations.CompileAll(s.Policies), chosen)
	for i := range s.Policies {
		p := &s.Policies[i]
		should := remediations.Status(&remediations.Input{Policy: p, Remediations: s.Remediations, Conflict: conflicts[p.Name], Now: metav1.NewTime(s.Now)})
		broken = add(broken, differs("RemediationPolicy "+p.Name, p.Status, should))
	}
	return broken
}

// remediation compares a Remediation with its pod.
func (s *State) remediation(r *v1alpha1.Remediation) (broken []string) {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionComplete)
	if c == nil {
		return []string{fmt.Sprintf("Remediation %s has no status", names(r))}
	}
	switch step := remediations.Step(r); step {
	case v1alpha1.ReasonReplacing:
		// It waits for ten minutes where the controller was scaled down, or replaced, and makes no pod.
		if name, _, named := strings.Cut(c.Message, " is in its place"); named && s.Now.Sub(c.LastTransitionTime.Time) > stepWithin {
			broken = append(broken, fmt.Sprintf("Remediation %s says that pod %s is in the place of another and not ready: %s", names(r), name, c.Message))
		}
	case v1alpha1.ReasonResizing, v1alpha1.ReasonEvicting, v1alpha1.ReasonRollingBack:
		if s.Now.Sub(c.LastTransitionTime.Time) > stepWithin && c.Status == metav1.ConditionFalse {
			broken = append(broken, fmt.Sprintf("Remediation %s is at %s since %s: %s", names(r), step, c.LastTransitionTime.Format(time.TimeOnly), c.Message))
		}
	case v1alpha1.ReasonObserving, v1alpha1.ReasonSucceeded, v1alpha1.ReasonUnproven, v1alpha1.ReasonRolledBack:
		broken = add(broken, s.amounts(r, step))
	}
	return broken
}

// amounts compares the limit of the container of a resize with what its outcome says.
func (s *State) amounts(r *v1alpha1.Remediation, step string) string {
	limit := r.Spec.Change.Limit
	if limit == nil {
		return ""
	}
	want := limit.To
	if step == v1alpha1.ReasonRolledBack {
		want = limit.From
	}
	for i := range s.Pods {
		if string(s.Pods[i].UID) != r.Spec.Pod.UID || s.laterChange(r) {
			continue
		}
		for k := range s.Pods[i].Spec.Containers {
			if c := &s.Pods[i].Spec.Containers[k]; c.Name == r.Spec.Change.Container && c.Resources.Limits.Cpu().Cmp(*want) != 0 {
				return fmt.Sprintf("Remediation %s is %s, and the limit of its container is %s, not %s", names(r), step, c.Resources.Limits.Cpu(), want)
			}
		}
	}
	return ""
}

// laterChange reports whether another Remediation of the same pod was started later.
func (s *State) laterChange(r *v1alpha1.Remediation) bool {
	return slices.ContainsFunc(s.Remediations, func(other v1alpha1.Remediation) bool {
		return other.UID != r.UID && other.Spec.Pod.UID == r.Spec.Pod.UID && other.Status.StartTime != nil && r.Status.StartTime.Before(other.Status.StartTime)
	})
}

// ReplaysTrue returns the replays that say that they run, and for which nothing does.
func ReplaysTrue(s *State) (broken []string) {
	for i := range s.TraceReplays {
		r := &s.TraceReplays[i]
		c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionComplete)
		switch {
		case c == nil:
			broken = append(broken, fmt.Sprintf("TraceReplay %s has no status", names(r)))
		case c.Status != metav1.ConditionTrue && c.Reason != v1alpha1.ReasonFailed && s.Now.Sub(r.CreationTimestamp.Time) > 2*stepWithin:
			broken = append(broken, fmt.Sprintf("TraceReplay %s is not complete: %s: %s", names(r), c.Reason, c.Message))
		}
	}
	return broken
}
