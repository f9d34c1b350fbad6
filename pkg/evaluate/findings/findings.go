package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cgroup"
)

// Of returns the findings of what was observed. The error says that the bound is none, or names the pod that the model has
// no answer for.
func Of(in *Input) (*Answer, error) {
	above := cmp.Or(in.Above, DefaultAbove)
	if !(above > 1) || math.IsInf(above, 0) {
		return nil, fmt.Errorf("above: %v is not above 1 and finite", above)
	}
	c := observeAll(in, above)
	a := &Answer{Above: above, Findings: []Finding{}, Pods: []Pod{}}
	c.solveAll()
	for _, p := range c.nodes {
		n := p.view()
		if p.problem != "" {
			a.Unseen += len(p.all)
		}
		for _, r := range p.pods {
			view, err := r.view()
			if err != nil {
				return nil, fmt.Errorf("pod %s: %w", r.name(), err)
			}
			if view.Short {
				a.Short++
			} else if r.dilation >= above && view.Dilation-view.DilationError >= 1+(above-1)/2 {
				n.Slowed++
				a.Findings = append(a.Findings, c.finding(r, view))
			}
			a.Pods = append(a.Pods, *view)
		}
		a.Nodes = append(a.Nodes, n)
	}
	slices.SortFunc(a.Pods, func(a, b Pod) int { return cmp.Compare(a.Pod, b.Pod) })
	slices.SortStableFunc(a.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Dilation, a.Dilation), cmp.Compare(a.Pod.Pod, b.Pod.Pod))
	})
	return a, nil
}

// finding returns what would help a pod that is slowed down.
func (c *cluster) finding(r *resident, view *Pod) Finding {
	remedy, err := c.heal(r, view.Causes)
	if err != nil {
		remedy.Problem = err.Error()
	}
	return Finding{Pod: *view, SinceSeconds: r.since.Seconds(), AtLeast: r.all, Resource: string(corev1.ResourceCPU), Remedy: remedy}
}

// view returns what is known of a node.
func (p *place) view() Node {
	n := Node{Name: p.name, Problem: p.problem, AgeSeconds: p.age, CPUs: p.cpus, Pods: len(p.pods)}
	if all := p.seconds * float64(p.cpus); all > 0 {
		n.Busy, n.Stolen, n.PodsBusy = min(1, p.busy/all), min(1, p.stolen/all), min(1, p.ofPods/all)
	}
	return n
}

// view returns what was observed of a pod.
func (r *resident) view() (*Pod, error) {
	v := &Pod{
		Pod: r.name(), Node: r.place.name, Workload: WorkloadOf(r.pod), Seconds: r.seconds,
		Dilation: r.dilation, DilationError: r.margin(), CPULoading: r.cpu, DiskLoading: r.disk, Threads: r.threads,
		Pressure: r.pressure, Short: r.short(),
	}
	v.Request, v.Limit = cgroup.CPU(r.pod)
	if r.seconds > 0 {
		v.CPUs, v.Waiting = r.times.Run/r.seconds, r.times.Wait/r.seconds
		v.Throttled, v.Blocked = r.times.Throttled/r.seconds, r.times.Blocked/r.seconds
	}
	if r.times.Run > 0 {
		v.Unseen = min(1, r.times.Unseen/r.times.Run)
	}
	if r.index >= 0 && r.place.prediction != nil {
		waits, throttling, err := r.waits()
		if err != nil {
			return nil, err
		}
		v.Predicted = new(throttling + waits.total())
	}
	var err error
	if r.dilation >= r.place.slowed {
		v.Causes, err = r.explain()
	}
	return v, err
}
