package remediations

import (
	"fmt"
	"slices"
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Hold is why a change is not started yet.
type Hold struct {
	Message string
	// Again is after what time it may be otherwise without any other change having been
	// completed, 0 for never.
	Again time.Duration
}

// Hold returns why a change of the policy is not started now, nil if it may be, given all
// Remediations of the cluster.
func (p *Policy) Hold(r *v1alpha1.Remediation, all []v1alpha1.Remediation, now time.Time) *Hold {
	if name := p.Exhausted(); name != "" {
		return &Hold{Message: fmt.Sprintf("spec.budget.%s of RemediationPolicy %s is 0", name, p.Name)}
	}
	var usage usage
	for i := range all {
		if other := &all[i]; other.UID != r.UID {
			usage.add(p, r, other, now)
		}
	}
	return usage.hold(p)
}

// usage is what other changes have used up of the budgets that a change needs.
type usage struct {
	samePod                     string // a running change of the same pod
	atOnce, workload, namespace int
	node                        map[string]int
	lastHour                    int           // that were started within it
	coolDown                    time.Duration // that is left
}

// add counts another change.
func (u *usage) add(p *Policy, r, other *v1alpha1.Remediation, now time.Time) {
	if !Started(other) {
		return
	}
	if other.Spec.Policy == p.Name && now.Sub(other.Status.StartTime.Time) < time.Hour {
		u.lastHour++
	}
	if ended := completed(other); ended != nil && sameWorkload(r, other) {
		u.coolDown = max(u.coolDown, ended.Add(p.CoolDown).Sub(now))
	}
	if !Running(other) {
		return
	}
	if other.Spec.Policy == p.Name {
		u.atOnce++
	}
	if other.Namespace == r.Namespace {
		u.namespace++
		if other.Spec.Pod.UID == r.Spec.Pod.UID {
			u.samePod = other.Name
		}
	}
	if sameWorkload(r, other) {
		u.workload++
	}
	theirs := Nodes(other)
	for _, node := range Nodes(r) {
		if slices.Contains(theirs, node) {
			if u.node == nil {
				u.node = map[string]int{}
			}
			u.node[node]++
		}
	}
}

// hold returns the first reason to wait.
func (u *usage) hold(p *Policy) *Hold {
	switch {
	case u.samePod != "":
		return &Hold{Message: fmt.Sprintf("Remediation %s changes the same pod", u.samePod)}
	case u.atOnce >= p.AtOnce:
		return &Hold{Message: fmt.Sprintf("%d changes of RemediationPolicy %s are running, and spec.budget.atOnce is %d", u.atOnce, p.Name, p.AtOnce)}
	case u.workload >= p.PerWorkload:
		return &Hold{Message: fmt.Sprintf("%d changes of the workload are running, and spec.budget.perWorkload is %d", u.workload, p.PerWorkload)}
	case u.namespace >= p.PerNamespace:
		return &Hold{Message: fmt.Sprintf("%d changes of the namespace are running, and spec.budget.perNamespace is %d", u.namespace, p.PerNamespace)}
	case u.lastHour >= p.PerHour:
		return &Hold{Message: fmt.Sprintf("%d changes of RemediationPolicy %s were started within an hour, and spec.budget.perHour is %d", u.lastHour, p.Name, p.PerHour), Again: time.Minute}
	case u.coolDown > 0:
		return &Hold{Message: fmt.Sprintf("the workload was changed less than %v ago", p.CoolDown), Again: u.coolDown}
	}
	for node, n := range u.node {
		if n >= p.PerNode {
			return &Hold{Message: fmt.Sprintf("%d changes that involve node %s are running, and spec.budget.perNode is %d", n, node, p.PerNode)}
		}
	}
	return nil
}
