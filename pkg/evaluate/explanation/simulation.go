package explanation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// Manifests are what would be applied to a cluster: a workload, and profiles and namespaces beside it. The workload and
// WorkloadProfiles have a namespace.
type Manifests struct {
	Workload   manifest.Workload
	Workloads  []v1alpha1.WorkloadProfile
	Classes    []v1alpha1.NodeProfile
	Namespaces []corev1.Namespace
}

// Simulation is the part of an answer that is about a pod that is not there yet.
type Simulation struct {
	// Workload is the manifest, such as deployment/shop/web, and Replicas how many pods it asks for, of which the answer is
	// about one.
	Workload string `json:"workload"`
	Replicas int32  `json:"replicas"`
	// Fits is how many nodes take the pod. Ties are those of them that cost as much as the node of the answer, which is
	// the first by name: the scheduler takes any of these. Refused are those on which it fits, and which the scheduler's guard
	// refuses.
	Fits    int      `json:"fits"`
	Ties    []string `json:"ties,omitempty"`
	Refused []string `json:"refused,omitempty"`
	// Unknown are those of which it is not known whether the pod fits.
	Unknown []string `json:"unknown,omitempty"`
	// TooBusy are those that the pod would rather wait for than go to now.
	TooBusy []string `json:"tooBusy,omitempty"`
	// Exceeded are the limits of dilation that would not hold, that of the pod first. Those of neighbours which are
	// exceeded already count if the pod adds to it.
	Exceeded []Exceeded `json:"exceeded,omitempty"`
}

// Exceeded is the limit of a pod's dilation, by spec.sla.maxDilation of its WorkloadProfile, that would not hold once the
// explained pod is there.
type Exceeded struct {
	Pod         string  `json:"pod"`
	MaxDilation float64 `json:"maxDilation"`
	// MaxDilationReason says why MaxDilation is not sla.maxDilation of the profile, and is absent where it is.
	MaxDilationReason string  `json:"maxDilationReason,omitempty"`
	Dilation          float64 `json:"dilation"`
	// Before is its dilation without the explained pod, absent for that itself.
	Before *float64 `json:"before,omitempty"`
	// GuardMode is the mode of the scheduler's guard in the namespace of the pod.
	GuardMode configv1alpha1.GuardMode `json:"guardMode,omitempty"`
	// Gone are the pods of a node of a ranking that are gone when the limit would not hold; none where all are there.
	Gone []string `json:"gone,omitempty"`
	// Of a node of a ranking: the resource at which the pod waits most, mostly because of which pod, and all in words.
	Resource string `json:"resource,omitempty"`
	Because  string `json:"because,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

var errNoNodes = errors.New("there are no nodes")

// Simulate returns on which node the scheduler would put a pod of a workload that is not there yet, by the price of the
// nodes that take it, and how the pod and its neighbours would run there. The pods of the input are all of the
// cluster, and its nodes too; Pod and WhatIf are not used. The ranking is part of the answer where that is asked for, or
// where no node takes it.
//
// The error names the field of the manifest that is wrong, its value and the rule, or says that there are no nodes.
func Simulate(in *Input, applied *Manifests) (*Answer, error) {
	after, err := in.with(applied)
	if err != nil {
		return nil, err
	}
	x := newExplainer(after, nil)
	for i := range applied.Workloads {
		p := &applied.Workloads[i]
		if _, errs := profile.NewWorkload(p, x.snapshot.Resources()); len(errs) > 0 {
			return nil, fmt.Errorf("workload profile %s: %w", text.QualifiedName(p), errs.ToAggregate())
		}
	}
	e, ranked := x.answer(), x.rank()
	w := &applied.Workload
	e.Simulation = &Simulation{
		Workload: w.Name(), Replicas: *w.Replicas, Fits: taking(ranked),
		Refused: those(ranked, func(n *RankedNode) bool { return n.Refused != "" }),
		Unknown: those(ranked, func(n *RankedNode) bool { return n.Unknown != "" }),
		TooBusy: those(ranked, func(n *RankedNode) bool { return n.TooBusy != "" }),
	}
	x.makeRoom(e, ranked)
	if after.Ranked || e.Simulation.Fits == 0 {
		e.Nodes = ranked
	}
	if e.Simulation.Fits > 0 {
		e.Node = ranked[0].Node
		x.Pod.Spec.NodeName = e.Node
		e.Simulation.Ties = ties(ranked)
		if err := x.here(e); err != nil {
			return nil, err
		}
		e.Simulation.Exceeded = x.exceeded(e)
	}
	e.IgnoredAnnotations = x.ignored
	return e, nil
}

// with returns the input after some manifests have been applied, its Pod being one of those that come.
func (in *Input) with(applied *Manifests) (*Input, error) {
	w := &applied.Workload
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if err := in.checkNew(w); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Name(), err)
	}
	if len(in.Nodes) == 0 {
		return nil, errNoNodes
	}
	after := *in
	pod := w.Pod.DeepCopy()
	pod.Status, pod.CreationTimestamp = corev1.PodStatus{}, in.afterAll()
	after.Pod = cgroup.InEffect(pod)
	after.Workloads = replaced(in.Workloads, applied.Workloads, func(p *v1alpha1.WorkloadProfile) string { return text.QualifiedName(p) })
	after.Classes = replaced(in.Classes, applied.Classes, func(p *v1alpha1.NodeProfile) string { return p.Name })
	after.Namespaces = replaced(in.Namespaces, applied.Namespaces, func(ns *corev1.Namespace) string { return ns.Name })
	return &after, nil
}

// afterAll returns a time at which all pods are there: pods get devices in the order in which they were created.
func (in *Input) afterAll() metav1.Time {
	var last time.Time
	for i := range in.Pods {
		if t := in.Pods[i].CreationTimestamp.Time; t.After(last) {
			last = t
		}
	}
	return metav1.NewTime(last.Add(time.Second))
}

// checkNew returns an error where the scheduler would not choose a node for pods of a workload, which are not there yet.
func (in *Input) checkNew(w *manifest.Workload) error {
	spec := w.SpecPath()
	if node := w.Pod.Spec.NodeName; node != "" {
		return field.Invalid(spec.Child("nodeName"), node, "no scheduler chooses a node for such a pod: remove the field")
	}
	if w.Replicas == nil {
		return field.Invalid(field.NewPath("kind"), w.Kind, "has a pod on each node that it selects: there is no node to choose")
	}
	if *w.Replicas < 1 {
		return fmt.Errorf("the manifest asks for %d pods: there is none to place", *w.Replicas)
	}
	same := func(p corev1.Pod) bool { return p.Namespace == w.Pod.Namespace && p.Name == w.Pod.Name }
	if w.Kind == "Pod" && slices.ContainsFunc(in.Pods, same) {
		return field.Invalid(field.NewPath("metadata", "name"), w.Pod.Name, "there is such a pod already: explain that one, or simulate another name")
	}
	return nil
}

// replaced returns what there was, but for objects that come under the same name, and what comes.
func replaced[T any](before, come []T, name func(*T) string) []T {
	var all []T
	for i := range before {
		if !slices.ContainsFunc(come, func(c T) bool { return name(&c) == name(&before[i]) }) {
			all = append(all, before[i])
		}
	}
	return append(all, come...)
}

// taking returns how many of some nodes take the pod.
func taking(ranked []RankedNode) (n int) {
	for i := range ranked {
		if ranked[i].Takes() {
			n++
		}
	}
	return n
}

// those returns the names of some of the nodes.
func those(ranked []RankedNode, are func(*RankedNode) bool) (names []string) {
	for i := range ranked {
		if are(&ranked[i]) {
			names = append(names, ranked[i].Node)
		}
	}
	return names
}

// ties returns the nodes other than the first that cost as little as that.
func ties(ranked []RankedNode) (names []string) {
	for _, n := range ranked[1:] {
		if n.Rank == 1 {
			names = append(names, n.Node)
		}
	}
	return names
}

// exceeded returns the limits that do not hold because of the pod.
func (x *explainer) exceeded(e *Answer) (all []Exceeded) {
	if e.MaxDilation != nil && *e.Dilation > *e.MaxDilation {
		all = append(all, Exceeded{Pod: e.Pod, MaxDilation: *e.MaxDilation, MaxDilationReason: e.MaxDilationReason, Dilation: *e.Dilation, GuardMode: x.modes.mode(x.Pod.Namespace)})
	}
	modes := map[string]configv1alpha1.GuardMode{}
	for _, p := range x.byNode[e.Node] {
		modes[text.QualifiedName(p)] = x.modes.mode(p.Namespace)
	}
	for i := range e.Neighbours {
		n := &e.Neighbours[i]
		if n.MaxDilation == nil || n.Dilation <= *n.MaxDilation {
			continue
		}
		if n.Without <= *n.MaxDilation || n.Dilation-n.Without >= negligible {
			all = append(all, Exceeded{Pod: n.Pod, MaxDilation: *n.MaxDilation, MaxDilationReason: n.MaxDilationReason, Dilation: n.Dilation, Before: &n.Without, GuardMode: modes[n.Pod]})
		}
	}
	return all
}
