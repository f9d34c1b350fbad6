package madeup

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Gauge reports pods that are played as if they computed.
type Gauge struct {
	// CPUs are the processors of each node.
	CPUs int
	// Interval is the length of intervals, in whole seconds.
	Interval time.Duration
	// Loading is which fraction of its time a pod computes where it has a processor for itself.
	Loading func(*corev1.Pod) float64
}

// Report returns what is observed of the pods of a node in a number of intervals up to the last full one. All pods are slowed down alike, the
// more the busier the node is.
func (g *Gauge) Report(node string, pods []*corev1.Pod, intervals int, now time.Time) *usage.Report {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.UID, b.UID) })
	wanted := 0.0
	for _, p := range pods {
		wanted += g.Loading(p)
	}
	length, dilation := g.Interval.Seconds(), max(1, 1+(wanted-float64(g.CPUs)/2)/float64(g.CPUs))
	last := now.Truncate(g.Interval)
	r := &usage.Report{AgeSeconds: now.Sub(last).Seconds()}
	for k := range intervals {
		v := usage.Interval{Node: node, Seconds: length, CPUs: g.CPUs, CgroupVersion: 2}
		v.End = last.Add(-time.Duration(intervals-1-k) * g.Interval)
		v.Start = v.End.Add(-g.Interval)
		for _, p := range pods {
			if p.CreationTimestamp.After(v.Start) {
				continue
			}
			l := g.Loading(p)
			seen := usage.Pod{
				UID: string(p.UID), Namespace: p.Namespace, Name: p.Name, Seconds: length, Tasks: 1, Threads: 1, Dilation: dilation, CPULoading: l,
				Times: usage.Times{Run: length * l / dilation, Wait: length * (1 - 1/dilation)},
			}
			v.BusySeconds += seen.Run
			v.Pods = append(v.Pods, seen)
		}
		r.Intervals = append(r.Intervals, v)
	}
	return r
}
