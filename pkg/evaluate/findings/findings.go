package findings

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/workloads"
)

// Find returns the findings from observations. The error says that Above is out of range, or names the pod for which the model has
// no answer.
func Find(in *observed.Input, o *plan.Options) (*Answer, error) {
	above := cmp.Or(o.Above, observed.DefaultAbove)
	if err := o.Check(); err != nil {
		return nil, err
	}
	c := observed.Observe(in, above)
	c.SolveAll()
	p, err := plan.Make(c, o)
	if err != nil {
		return nil, err
	}
	return Of(c, above, p)
}

// Of returns the findings about a cluster that was observed and solved, and of which a plan was made. Without a plan, which takes most of the
// time of [Find], the findings have no remedies, and those on nodes that were not solved either have no causes. The error names the pod for
// which the model has no answer.
func Of(c *observed.Cluster, above float64, p *plan.Plan) (*Answer, error) {
	a := &Answer{Above: above, Findings: []Finding{}, Pods: []Pod{}, Plan: p}
	for _, n := range c.Nodes {
		seen := viewOf(n)
		if n.Problem != "" {
			for _, pod := range n.All {
				a.unseen = append(a.unseen, unseenPod{pod.Namespace, n.Name})
			}
		}
		for _, r := range n.Pods {
			view, err := podOf(r, p != nil || n.Prediction != nil)
			if err != nil {
				return nil, fmt.Errorf("pod %s: %w", r.Name(), err)
			}
			switch {
			case view.Short:
				a.Short++
			case view.unsure(above):
				a.Unsure++
			case view.Dilation >= above:
				seen.Slowed++
				f := Finding{Pod: *view, SinceSeconds: r.Since.Seconds(), AtLeast: r.AtLeast, Resource: resourceOf(r)}
				if p != nil {
					f.Remedy = remedyOf(p, r)
					f.Remedy.ByHand = byHand(view.Causes)
				}
				a.Findings = append(a.Findings, f)
			}
			a.Pods = append(a.Pods, *view)
		}
		a.Nodes = append(a.Nodes, seen)
	}
	a.Unseen = len(a.unseen)
	slices.SortFunc(a.Pods, func(a, b Pod) int { return cmp.Compare(a.Pod, b.Pod) })
	slices.SortStableFunc(a.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Dilation, a.Dilation), cmp.Compare(a.Pod.Pod, b.Pod.Pod))
	})
	return a, nil
}

// resourceOf returns where a pod waits most.
func resourceOf(r *observed.Pod) string {
	if r.AtDisks > r.Dilation-1-r.AtDisks {
		return observed.Disk
	}
	return string(corev1.ResourceCPU)
}

// unsure reports whether the dilation of a pod would be a finding, and differs too much between intervals.
func (p *Pod) unsure(above float64) bool {
	return !p.Short && p.Dilation >= above && p.Dilation-p.DilationError < observed.Broken(above)
}

// view describes a node for the answer.
func viewOf(n *observed.Node) NodeSummary {
	v := NodeSummary{
		Name: n.Name, Problem: n.Problem, AgeSeconds: n.Age, CPUs: n.CPUs, OtherCPUs: n.OtherCPUs, BlockedUnknown: n.BlockedUnknown,
		BlockedByPressure: n.BlockedByPressure, UnlearnedDisks: n.UnlearnedDisks(), BusyDisks: n.BusyDisks(), UncountedDisks: n.UncountedDisks(), Pods: len(n.Pods),
	}
	if all := n.Seconds * float64(n.CPUs); all > 0 {
		v.Busy, v.Stolen, v.PodsBusy = min(1, n.Busy/all), min(1, n.Stolen/all), min(1, n.OfPods/all)
	}
	return v
}

// podOf returns what was observed of a pod, and if it is to be explained why it is slowed down.
func podOf(r *observed.Pod, explained bool) (*Pod, error) {
	v := &Pod{
		Pod: r.Name(), Node: r.Node.Name, Workload: workloads.Of(r.Object), Seconds: r.Seconds,
		Dilation: r.Dilation, DilationError: r.Margin(), Threads: r.Threads, BurstSeconds: r.Burst,
		Pressure: r.Pressure, Short: r.Short(),
	}
	v.CPULoading, v.DiskLoading = r.Alone()
	if alone, known := r.Profiled(); known {
		v.Alone = &Loadings{CPU: alone.CPU, Disk: alone.Disk}
	}
	v.Request, v.Limit = cgroup.CPU(r.Object)
	if r.Seconds > 0 {
		v.CPUs, v.Waiting, v.Throttled = r.Times.Run/r.Seconds, r.Times.Wait/r.Seconds, r.Times.Throttled/r.Seconds
		if !r.BlockedUnknown {
			v.Blocked = new(r.Times.Blocked / r.Seconds)
		}
	}
	if r.Times.Run > 0 {
		v.Unseen = min(1, r.Times.Unseen/r.Times.Run)
	}
	if r.Index >= 0 && r.Node.Prediction != nil {
		predicted, err := r.Predicted()
		if err != nil {
			return nil, err
		}
		v.Predicted = &predicted
	}
	var err error
	if explained && r.Dilation >= r.Node.Slowed {
		v.Causes, err = r.Explain()
	}
	return v, err
}
