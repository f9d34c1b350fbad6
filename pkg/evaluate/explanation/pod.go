// Package explanation explains how a pod fares on its node: how much slower than alone
// it runs, at which resources it waits, because of whom, and whom it makes wait; and
// what it would cost on other nodes, of which it says which do not fit. Vectors,
// servers and prices are those that the scheduler plugin uses.
package explanation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/inflations"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// explainer explains one pod.
type explainer struct {
	*Input
	snapshot *profile.Snapshot
	byNode   map[string][]*corev1.Pod // the others, that have not ended
	profiles map[string]*v1alpha1.WorkloadProfile
	ignored  []string // what is wrong with annotations and labels
	modes    *guardModes
	hold     Hold
	refusals node.Refusals // by the guard
	goWith   []string      // the workloads beside which pods of the same profile serve slower
}

// ignore notes which annotations of devices are wrong, each once: what a node is without them can be used all the same.
func (x *explainer) ignore(wrong error) {
	if wrong == nil {
		return
	}
	for line := range strings.SplitSeq(wrong.Error(), "\n") {
		if !slices.Contains(x.ignored, line) {
			x.ignored = append(x.ignored, line)
		}
	}
}

// OfPod explains how a pod fares where it is, and ranks nodes where that is asked for.
// The error says that the pod has ended, or which node is missing.
func OfPod(in *Input) (*Answer, error) {
	if cgroup.Ended(in.Pod) {
		return nil, fmt.Errorf("pod %s has ended (%s): explain is about pods that run or wait for a node", text.QualifiedName(in.Pod), in.Pod.Status.Phase)
	}
	x := newExplainer(in, in.Pod)
	e := x.answer()
	for i := range in.Pod.Status.Conditions {
		c := &in.Pod.Status.Conditions[i]
		switch {
		case c.Type != corev1.PodScheduled:
		case c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero():
			e.PlacedTime = &c.LastTransitionTime
		case c.Status == corev1.ConditionFalse && e.Node == "":
			e.Unschedulable = c.Message
		}
	}
	if e.Node == "" && in.WhatIf != nil {
		return nil, errNoNode
	}
	if e.Node != "" {
		if err := x.here(e); err != nil {
			return nil, err
		}
	}
	if in.Ranked {
		e.Nodes = x.rank()
		x.makeRoom(e, e.Nodes)
	}
	e.IgnoredAnnotations = x.ignored
	return e, nil
}

// answer returns the part of the answer that does not depend on the node.
func (x *explainer) answer() *Answer {
	a := &Answer{
		Pod: text.QualifiedName(x.Pod), Node: x.Pod.Spec.NodeName, SchedulerName: x.schedulerName(), Rules: x.Rules, GuardMode: x.modes.fallback,
		Vector: x.source(x.Pod, profile.AnyClass), DilationLimit: newDilationLimit(x.promised(x.Pod).On(loading.Demand{}, 1)),
	}
	importance := x.snapshot.Importance(x.Pod)
	if w := x.snapshot.Workload(x.Pod); w != nil && w.Importance > importance {
		a.ProfileImportance = &w.Importance
	}
	if importance != 1 || a.ProfileImportance != nil {
		a.Importance = &importance
	}
	a.ByDilation = x.byDilation()
	if x.hold.MaxDilation > 0 {
		a.Hold = &x.hold
	}
	return a
}

// schedulerName returns the scheduler of the pod.
func (x *explainer) schedulerName() string {
	return cmp.Or(x.Pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// byDilation reports whether the scheduler of the pod places by dilation, nil if that is not known.
func (x *explainer) byDilation() *bool {
	if x.Schedulers == nil {
		return nil
	}
	return new(slices.Contains(x.Schedulers, x.schedulerName()))
}

// newExplainer returns what explains the pod of an input. Of the pods in the input, that of the name of itself is the
// explained one; where itself is nil, all are others.
func newExplainer(in *Input, itself *corev1.Pod) *explainer {
	index := profile.NewIndex(in.Requests, logr.Discard())
	index.LimitImportance(in.Limits.MaxImportance)
	x := &explainer{Input: in, byNode: map[string][]*corev1.Pod{}, profiles: map[string]*v1alpha1.WorkloadProfile{}}
	for i := range in.Workloads {
		index.OnAdd(&in.Workloads[i], true)
		x.profiles[text.QualifiedName(&in.Workloads[i])] = &in.Workloads[i]
	}
	for i := range in.Classes {
		index.OnAdd(&in.Classes[i], true)
	}
	x.snapshot, x.modes, x.hold = index.Snapshot(), x.newGuardModes(), x.newHold()
	if w := x.profileOf(in.Pod); w != nil && w.Spec.Work != nil {
		x.goWith = inflations.GoWith(w, inflations.ByUID(in.Pods))
	}
	for i := range in.Pods {
		p := &in.Pods[i]
		other := itself == nil || p.Namespace != itself.Namespace || p.Name != itself.Name
		if p.Spec.NodeName != "" && !cgroup.Ended(p) && other {
			x.byNode[p.Spec.NodeName] = append(x.byNode[p.Spec.NodeName], p)
		}
	}
	return x
}

// here explains how the pod fares on its node.
func (x *explainer) here(e *Answer) error {
	i := slices.IndexFunc(x.Nodes, func(n corev1.Node) bool { return n.Name == e.Node })
	if i < 0 {
		return fmt.Errorf("pod %s is on node %q, which is not there: give the Node, too", e.Pod, e.Node)
	}
	object := &x.Nodes[i]
	class := x.snapshot.NodeClass(object)
	if class != nil {
		e.NodeProfile = class.Name
	}
	pods := append([]*corev1.Pod{x.Pod}, x.byNode[e.Node]...)
	n := node.Of(x.snapshot, object, class, pods)
	n.Weights = x.Weights
	x.ignore(n.Ignored)
	e.Vector, e.DilationLimit = x.source(x.Pod, class.Class()), x.limit(class, n.Servers, x.Pod)
	if w := x.profileOf(x.Pod); w != nil {
		if millis := profile.NeutralMillis(w, class.Class()); millis != nil {
			e.NeutralSeconds = new(float64(*millis) / 1000)
		}
		e.Service = x.service(w)
	}
	for _, p := range pods {
		e.Caveats = append(e.Caveats, node.Caveats(p, class)...)
	}
	shared, err := n.Share()
	if err != nil {
		return err
	}
	now, err := shared.Predict(solverOptions)
	if err != nil {
		return err
	}
	p := &placed{Node: n, now: now, free: node.FreeCPU(object, pods[1:]), resources: x.snapshot.Resources(), assumed: e.Vector.Source == profile.SourceRequests}
	if err := x.shares(e, p, shared); err != nil {
		return err
	}
	margin, err := p.margins(class, shared)
	if err != nil {
		return fmt.Errorf("node %s: %w", e.Node, err)
	}
	e.DilationError = margin(0)
	e.Dilation, e.Solver = &now.Dilations[0], now.Solution.Solver.String()
	e.Resources = p.waits()
	e.Devices = p.devices()
	e.Neighbours, err = x.neighbours(p, class, margin)
	return err
}

// neighbours returns how the others fare.
func (x *explainer) neighbours(p *placed, class *profile.NodeClass, margin func(pod int) *float64) ([]Neighbour, error) {
	without, err := p.without()
	if err != nil {
		return nil, err
	}
	var all []Neighbour
	for j := 1; j < len(p.Pods); j++ {
		pod := p.Pods[j].Pod
		source := x.source(pod, class.Class())
		neighbour := Neighbour{
			Pod: text.QualifiedName(pod), Profile: source.Profile, Assumed: source.Source == profile.SourceRequests, QoSClass: cgroup.QoS(pod),
			Dilation: p.now.Dilations[j], DilationError: margin(j), Without: without[j-1], DilationLimit: x.limit(class, p.Servers, pod),
		}
		neighbour.Request, neighbour.Limit = cgroup.CPU(pod)
		all = append(all, neighbour)
	}
	slices.SortStableFunc(all, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Dilation-b.Without, a.Dilation-a.Without), cmp.Compare(a.Pod, b.Pod))
	})
	return all, nil
}

// solverOptions choose well.
var solverOptions = queueing.Options{}

// shares fills in the request and the limit of the pod, and their effect on it.
func (x *explainer) shares(e *Answer, p *placed, shared *node.Shared) error {
	e.Request, e.Limit = cgroup.CPU(x.Pod)
	e.QoSClass, e.ExclusiveCores = cgroup.QoS(x.Pod), shared.Pool.Exclusive[0]
	throttling := p.now.Throttling(0)
	if p.stated = e.Vector.Source.Unlimited(); p.stated {
		p.neutral = e.NeutralSeconds
		e.MaxThrottling = node.MaxThrottling(p.Pods[0].AtDevices()[p.CPU], e.Limit, p.neutral, throttling)
	}
	if node.Throttles(throttling) {
		e.Throttling = &throttling
		if e.NeutralSeconds != nil {
			e.NeutralSeconds = new(*e.NeutralSeconds * throttling)
		}
	}
	equal, err := p.PredictEqualShares(solverOptions)
	if err != nil {
		return err
	}
	e.EqualDilation = &equal.Dilations[0]
	if e.Weight, err = p.weigh(shared, equal); err != nil {
		return err
	}
	if x.WhatIf != nil {
		e.WhatIf, err = p.whatIf(x.WhatIf)
	}
	return err
}

// without returns how the others would fare without the pod.
func (p *placed) without() ([]float64, error) {
	if len(p.Pods) == 1 {
		return nil, nil
	}
	others, err := p.Without(0).Predict()
	if err != nil {
		return nil, err
	}
	return others.Dilations, nil
}

// margins returns the half width of the interval of the dilation of each of the pods, nil where no vector in use has an interval.
func (p *placed) margins(class *profile.NodeClass, shared *node.Shared) (func(pod int) *float64, error) {
	used := make([]*profile.InUse, len(p.Pods))
	for j := range p.Pods {
		if w := p.Pods[j].Workload; w != nil {
			used[j] = w.On(class.Class())
		}
	}
	unsure := shared.Unsure(p.resources.Unsure(used))
	margins, err := p.now.Margins(unsure, solverOptions)
	return func(pod int) *float64 {
		if len(unsure) == 0 {
			return nil
		}
		return &margins[pod]
	}, err
}

// waits returns how long the pod waits and makes others wait, per resource.
func (p *placed) waits() []Resource {
	var all []Resource
	vector := p.Pods[0].AtDevices()
	for i, name := range p.resources.Names() {
		d := vector[i]
		if d.Loading == 0 && d.Pressure == 0 && d.Effect == nil {
			continue
		}
		r := Resource{Name: name, Servers: p.Servers[i], Loading: d.Loading, Pressure: d.Pressure, Sensitivity: d.Sensitivity, Threads: max(1, d.Threads), Waits: p.now.Delay(0, i)}
		if d.Effect != nil {
			r.Servers, r.Domains, r.Pressure, r.Threads = 0, p.Servers[i], d.Effect.Pressure, max(1, vector[p.CPU].Threads)
		}
		if device, is := p.Devices.At(vector, i); is {
			r.Device = device.String()
		}
		for k, blame := range p.now.BlameAt(0, i) {
			r.Because = addPart(r.Because, p.Pods[k].Pod, blame)
		}
		for k := 1; k < len(p.Pods); k++ {
			inflicted := p.now.BlameAt(k, i)[0]
			r.Inflicts += inflicted
			r.On = addPart(r.On, p.Pods[k].Pod, inflicted)
		}
		sortParts(r.Because)
		sortParts(r.On)
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Resource) int { return cmp.Compare(b.Waits+b.Inflicts, a.Waits+a.Inflicts) })
	return all
}

// devices returns the devices that the pod uses, with the others that use them.
func (p *placed) devices() (all []UsedDevice) {
	for _, d := range p.Pods[0].Devices {
		used := UsedDevice{Name: d.String(), Assumed: p.Pods[0].DevicesAssumed}
		for k := 1; k < len(p.Pods); k++ {
			if slices.Contains(p.Pods[k].Devices, d) {
				used.With = append(used.With, text.QualifiedName(p.Pods[k]))
				used.Assumed = used.Assumed || p.Pods[k].DevicesAssumed
			}
		}
		all = append(all, used)
	}
	return all
}

func addPart(list []Part, pod *corev1.Pod, dilation float64) []Part {
	if dilation <= 0 {
		return list
	}
	return append(list, Part{text.QualifiedName(pod), dilation})
}

func sortParts(list []Part) {
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Dilation, a.Dilation), cmp.Compare(a.Pod, b.Pod)) })
}

// profileOf returns the profile that a pod follows, nil if none.
func (x *explainer) profileOf(pod *corev1.Pod) *v1alpha1.WorkloadProfile {
	w := x.snapshot.Workload(pod)
	if w == nil {
		return nil
	}
	return x.profiles[profileName(w)]
}

// profileName writes namespace/name.
func profileName(w *profile.Workload) string { return strings.TrimPrefix(w.Namespace+"/"+w.Name, "/") }

// promised returns what a pod is promised, whatever the guard does about that.
func (x *explainer) promised(pod *corev1.Pod) node.Promise {
	return node.NewPromise(pod, x.snapshot.Workload(pod), configv1alpha1.GuardWarn, x.Limits)
}

// limit returns how much a pod may be dilated on a node of a class with those servers, whatever the guard does about that.
func (x *explainer) limit(class *profile.NodeClass, servers []int, pod *corev1.Pod) DilationLimit {
	return newDilationLimit(x.podOn(class, servers, pod, x.promised(pod)).Bound)
}

func newDilationLimit(b node.Bound) DilationLimit {
	if b.Max == 0 {
		return DilationLimit{}
	}
	return DilationLimit{&b.Max, b.Why()}
}

// source says where the vector of a pod on the nodes of a class is from.
func (x *explainer) source(pod *corev1.Pod, class string) VectorSource {
	w := x.snapshot.Workload(pod)
	if w == nil {
		return VectorSource{Source: profile.SourceRequests}
	}
	v := w.On(class)
	s := VectorSource{Source: v.Source(), Profile: profileName(w)}
	if v == nil {
		return s
	}
	s.Ignored = slices.Concat(v.Unknown, v.LeftOut)
	if m := v.Measured; m != nil {
		s.NodeProfile, s.Node, s.Time = m.NodeProfile, m.Node, m.Time
		for i := range m.Resources {
			if e := m.Resources[i].LoadingError; e != nil && (s.Error == nil || e.AsApproximateFloat64() > *s.Error) {
				s.Error = new(e.AsApproximateFloat64())
			}
		}
	}
	if o := v.Observed; o != nil {
		s.NodeProfile, s.Time = o.NodeProfile, o.Time
		for _, d := range v.Demands {
			if e := d.Margins.Loading; e > 0 && (s.Error == nil || e > *s.Error) {
				s.Error = new(e)
			}
		}
	}
	return s
}
