package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/workloads"
)

// Find returns the findings from observations. The error says that Above is out of range, or names the pod for which the model has
// no answer.
func Find(in *Input) (*Answer, error) {
	above := cmp.Or(in.Above, DefaultAbove)
	if !(above > 1) || math.IsInf(above, 0) {
		return nil, fmt.Errorf("above: %v is not above 1 and finite", above)
	}
	c := observeAll(in, above)
	a := &Answer{Above: above, Findings: []Finding{}, Pods: []Pod{}}
	c.solveAll()
	for _, n := range c.nodes {
		seen := n.view()
		if n.problem != "" {
			for _, pod := range n.all {
				a.unseen = append(a.unseen, unseenPod{pod.Namespace, n.name})
			}
		}
		var slowed []slowedPod
		for _, r := range n.pods {
			view, err := r.view()
			if err != nil {
				return nil, fmt.Errorf("pod %s: %w", r.name(), err)
			}
			switch {
			case view.Short:
				a.Short++
			case view.unsure(above):
				a.Unsure++
			case view.Dilation >= above:
				slowed = append(slowed, slowedPod{r, view})
			}
			a.Pods = append(a.Pods, *view)
		}
		seen.Slowed = len(slowed)
		a.Findings = append(a.Findings, c.findings(slowed)...)
		a.Nodes = append(a.Nodes, seen)
	}
	a.Unseen = len(a.unseen)
	slices.SortFunc(a.Pods, func(a, b Pod) int { return cmp.Compare(a.Pod, b.Pod) })
	slices.SortStableFunc(a.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Dilation, a.Dilation), cmp.Compare(a.Pod.Pod, b.Pod.Pod))
	})
	return a, nil
}

// unsure reports whether the dilation of a pod would be a finding, and differs too much between intervals.
func (p *Pod) unsure(above float64) bool {
	return !p.Short && p.Dilation >= above && p.Dilation-p.DilationError < broken(above)
}

// broken returns the dilation below which a pod is not slowed down, given the smallest dilation of a finding: half as far from 1.
func broken(above float64) float64 { return 1 + (above-1)/2 }

// treated is the number of pods of a node, the worst ones, for which remedies are looked for. Nearly all of the time goes into
// that, and what helps the other pods is another question once these are helped.
const treated = 20

// slowedPod is a pod that is slowed down.
type slowedPod struct {
	*resident

	view *Pod
}

// findings returns the findings about the pods of a node that are slowed down, the worst first.
func (c *cluster) findings(slowed []slowedPod) []Finding {
	slices.SortStableFunc(slowed, func(a, b slowedPod) int {
		return cmp.Or(cmp.Compare(b.dilation, a.dilation), cmp.Compare(a.name(), b.name()))
	})
	all := make([]Finding, len(slowed))
	for k, s := range slowed {
		remedy := Remedy{Action: Leave, Dilation: s.dilation}
		if k < treated {
			var err error
			if remedy, err = c.bestRemedy(s.resident, s.view.Causes); err != nil {
				remedy.Problem = err.Error()
			}
		} else {
			remedy.Problem = fmt.Sprintf("%d pods of its node are slowed down more: see what helps them first", treated)
		}
		all[k] = Finding{Pod: *s.view, SinceSeconds: s.since.Seconds(), AtLeast: s.all, Resource: string(corev1.ResourceCPU), Remedy: remedy}
	}
	return all
}

// view describes a node for the answer.
func (n *observedNode) view() NodeSummary {
	v := NodeSummary{
		Name: n.name, Problem: n.problem, AgeSeconds: n.age, CPUs: n.cpus, OtherCPUs: n.otherCPUs, BlockedUnknown: n.blockedUnknown,
		Pods: len(n.pods),
	}
	if all := n.seconds * float64(n.cpus); all > 0 {
		v.Busy, v.Stolen, v.PodsBusy = min(1, n.busy/all), min(1, n.stolen/all), min(1, n.ofPods/all)
	}
	return v
}

// view returns what was observed of a pod.
func (r *resident) view() (*Pod, error) {
	v := &Pod{
		Pod: r.name(), Node: r.node.name, Workload: workloads.Of(r.pod), Seconds: r.seconds,
		Dilation: r.dilation, DilationError: r.margin(), CPULoading: r.cpu, DiskLoading: r.disk, Threads: r.threads, BurstSeconds: r.burst,
		Pressure: r.pressure, Short: r.short(),
	}
	v.Request, v.Limit = cgroup.CPU(r.pod)
	if r.seconds > 0 {
		v.CPUs, v.Waiting, v.Throttled = r.times.Run/r.seconds, r.times.Wait/r.seconds, r.times.Throttled/r.seconds
		if !r.node.blockedUnknown {
			v.Blocked = new(r.times.Blocked / r.seconds)
		}
	}
	if r.times.Run > 0 {
		v.Unseen = min(1, r.times.Unseen/r.times.Run)
	}
	if r.index >= 0 && r.node.prediction != nil {
		waits, throttling, err := r.waits()
		if err != nil {
			return nil, err
		}
		v.Predicted = new(throttling + waits.total())
	}
	var err error
	if r.dilation >= r.node.slowed {
		v.Causes, err = r.explain()
	}
	return v, err
}
