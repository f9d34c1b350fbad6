package findings

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/inflations"
)

// PerUnit is how much longer a unit of a pod's work takes. A service that is idle for most of its time waits for a small part of it, and its
// requests may take twice as long: that is what its users feel.
type PerUnit struct {
	// Unit is what is counted, such as request.
	Unit string `json:"unit"`
	// Dilation is how many times longer a unit takes than alone: Waiting times Inflation.
	Dilation float64 `json:"dilation"`
	// Waiting is (ran + waited for a processor + was held back by its limit) / ran, at least 1.
	Waiting float64 `json:"waiting"`
	// Inflation is how many times as many CPU seconds a unit takes as when quiet.
	Inflation float64 `json:"inflation"`
	// Beside are the workloads that the inflation goes with, if any, and Adds is what they add to it.
	Beside []string `json:"beside,omitempty"`
	Adds   float64  `json:"adds,omitempty"`
}

// unplannedService is why the plan has no remedy for a pod of which only the units of work are slowed down.
const unplannedService = "the plan is of waiting alone, and units of work that are slower for other reasons are not in it"

// perUnit returns how much longer a unit of a pod's work takes, nil for a pod that does not run.
func perUnit(p *Pod, of *inflations.OfPod) *PerUnit {
	if p.CPUs <= 0 {
		return nil
	}
	u := &PerUnit{Unit: of.Unit, Waiting: (p.CPUs + p.Waiting + p.Throttled) / p.CPUs, Inflation: of.Inflation, Beside: of.Beside, Adds: of.Adds}
	u.Dilation = u.Waiting * u.Inflation
	return u
}

// Felt returns how many times longer the pod takes as its users feel it: a unit of its work, where that is known, else all of its time.
func (p *Pod) Felt() float64 {
	if p.PerUnit != nil {
		return p.PerUnit.Dilation
	}
	return p.Dilation
}

// Serve adds to an answer how much longer units of the pods' work take, as a function says of the pods that have a work counter. Pods whose
// units are slowed down are findings, too, and the order is by what users feel. The plan is of waiting alone, so a pod that is a finding by
// its units only is left as it is, and its remedy says why.
func (a *Answer) Serve(pods []corev1.Pod, work func(*corev1.Pod) *inflations.OfPod) {
	units := map[string]*PerUnit{}
	objects := make(map[string]*corev1.Pod, len(pods))
	for i := range pods {
		objects[pods[i].Namespace+"/"+pods[i].Name] = &pods[i]
	}
	for i := range a.Pods {
		p := &a.Pods[i]
		if object := objects[p.Pod]; object != nil && !p.Short {
			if of := work(object); of != nil {
				p.PerUnit = perUnit(p, of)
				units[p.Pod] = p.PerUnit
			}
		}
	}
	found := map[string]bool{}
	for i := range a.Findings {
		found[a.Findings[i].Pod.Pod] = true
		a.Findings[i].PerUnit = units[a.Findings[i].Pod.Pod]
	}
	for i := range a.Pods {
		if p := &a.Pods[i]; p.PerUnit != nil && p.PerUnit.Dilation >= a.Above && !found[p.Pod] {
			a.find(p)
		}
	}
	slices.SortStableFunc(a.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Felt(), a.Felt()), cmp.Compare(a.Pod.Pod, b.Pod.Pod))
	})
}

// find adds a finding about a pod of which only the units of work are slowed down.
func (a *Answer) find(p *Pod) {
	if p.unsure(a.Above) {
		a.Unsure--
	}
	r := Remedy{Action: Leave, Dilation: p.Dilation, Problem: unplannedService}
	a.Findings = append(a.Findings, Finding{Pod: *p, Resource: string(corev1.ResourceCPU), Remedy: r})
	for i := range a.Nodes {
		if a.Nodes[i].Name == p.Node {
			a.Nodes[i].Slowed++
		}
	}
}
