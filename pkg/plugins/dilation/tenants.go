package dilation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/nodes"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/profile"
)

// newcomer is the pod that is being placed, as bounds are checked for it.
type newcomer struct {
	pod      *corev1.Pod
	follows  *profile.Workload // nil if it follows none
	workload *profile.Workload // the same, nil if that has no vector yet
	requests contention.Vector // its vector where workload is nil
	share    contention.Share
	promise  nodes.Promise
	// importance is how many times what it waits counts.
	importance float64
	// devices are the extended resources of devices that it requests, and what its annotation says of devices.
	devices string
	// hold is the dilation above which it waits, 0 for none.
	hold float64
	kind kind
}

func newNewcomer(s *profile.Snapshot, m *modes, pod *corev1.Pod) *newcomer {
	return newFollower(s, m, pod, s.Workload(pod))
}

// newFollower returns a pod that follows a profile, nil for none.
func newFollower(s *profile.Snapshot, m *modes, pod *corev1.Pod, w *profile.Workload) *newcomer {
	n := &newcomer{
		pod: pod, follows: w, workload: w, share: profile.GroupedShare(pod), importance: s.ImportanceOf(w),
		promise: nodes.NewPromise(pod, w, m.of(pod.Namespace), m.limits),
	}
	n.devices = strings.Join(append(s.RequestedDevices(pod), pod.Annotations[v1alpha1.DevicesAnnotation]), ",")
	if w == nil || w.Elsewhere() == nil {
		n.workload, n.requests = nil, s.VectorOn(profile.AnyClass, pod)
	}
	return n
}

// on returns its vector on nodes of a class.
func (n *newcomer) on(c *profile.NodeClass) contention.Vector {
	if n.workload == nil {
		return n.requests
	}
	return n.workload.On(c.Class()).Vector
}

// anywhere returns its vector on nodes of all classes, nil if it is not the same on all.
func (n *newcomer) anywhere() contention.Vector {
	if n.workload == nil {
		return n.requests
	}
	if len(n.workload.Found()) > 0 {
		return nil
	}
	return n.workload.On(profile.AnyClass).Vector
}

// tenants are the pods of one node, as bounds are checked for them. They are kept through many snapshots of the profiles (see
// nodeTable), and so hold what they need of one, and not the snapshot.
type tenants struct {
	resources *profile.Resources
	node      *corev1.Node
	class     *profile.NodeClass
	pods      []*corev1.Pod
	workloads []*profile.Workload // that they follow, nil for none
	vectors   []contention.Vector // without devices
	bounds    []nodes.Bound
	servers   []int
	ceiling   *contention.Ceiling
	kinds     []kind
	known     *kinds

	with   map[kind]*outcome
	before *nodes.Outlook // without a newcomer; nil until it is needed
}

// outcome is how the pods of a node fare with a newcomer among them.
type outcome struct {
	own   float64 // dilation of the newcomer
	worst float64 // dilation, of all
	// risk is how near a pod comes to its bound at worst: (λ − 1) over (bound − 1), 0 where no pod has a bound.
	risk     float64
	excesses []nodes.Excess
	// provisional says that the dilations are bounds from above because the budget of the cycle was exhausted.
	provisional bool
}

// newTenants returns the pods of a node, by what they follow.
func newTenants(m *modes, known *kinds, c *cycle, node *corev1.Node, f *profile.Followed) *tenants {
	t := &tenants{resources: c.snapshot.Resources(), node: node, class: c.snapshot.NodeClass(node), pods: f.Pods, workloads: f.Workloads, known: known}
	t.servers = t.resources.Servers(t.node, t.class)
	t.ceiling = contention.NewCeiling(t.servers, t.resources.Processor())
	t.vectors, t.bounds, t.kinds = make([]contention.Vector, len(t.pods)), make([]nodes.Bound, len(t.pods)), make([]kind, len(t.pods))
	for j, pod := range t.pods {
		p := newFollower(c.snapshot, m, pod, t.workloads[j]) // as it was when it came
		t.bounds[j], t.vectors[j], t.kinds[j] = t.boundOf(p), p.on(t.class), known.number(p)
		t.ceiling.Add(t.vectors[j], p.share)
	}
	return t
}

// boundOf returns the bound of a pod on the node.
func (t *tenants) boundOf(n *newcomer) nodes.Bound {
	cpu := t.resources.Processor()
	return n.promise.On(n.on(t.class)[cpu], t.servers[cpu])
}

// surely reports whether no pod can be dilated more than it may be once the newcomer is there, without solving the model. The
// limits are those of the newcomer and of each pod, 0 for none.
func (t *tenants) surely(n *newcomer, own float64, limit func(nodes.Bound) float64) bool {
	var with *contention.Ceiling
	within := func(v contention.Vector, most float64) bool {
		if most == 0 {
			return true
		}
		if with == nil {
			with = t.ceiling.With(n.on(t.class), n.share)
		}
		return with.Dilation(v) <= most
	}
	if !within(n.on(t.class), own) {
		return false
	}
	for j, b := range t.bounds {
		if !within(t.vectors[j], limit(b)) {
			return false
		}
	}
	return true
}

// add returns how the pods fare with the newcomer, by the accurate model as far as the budget allows. It solves the model once for
// nodes and newcomers that are alike.
func (t *tenants) add(n *newcomer, b *budget) *outcome {
	if o, known := t.with[n.kind]; known {
		return o
	}
	var o *outcome
	if key, order := t.key(n.kind); key == "" {
		o = t.solve(n, b)
	} else {
		o = t.known.outcome(key, func() *outcome { return t.solve(n, b).in(inverse(order)) }).in(order)
	}
	if o.provisional {
		return o
	}
	if t.with == nil || len(t.with) == maxPerNode {
		t.with = map[kind]*outcome{}
	}
	t.with[n.kind] = o
	return o
}

// solve computes how the pods fare with the newcomer.
func (t *tenants) solve(n *newcomer, b *budget) *outcome {
	g := grant{budget: b}
	node := t.and(n)
	outlook := outlookOf(node, g.granted)
	bounds := append(slices.Clone(t.bounds), t.boundOf(n))
	o := newOutcome(outlook.Dilations, bounds)
	o.excesses = nodes.Exceeding(node, outlook, bounds, t.alone, g.granted)
	o.provisional = g.exhausted
	return o
}

// about returns about how the pods fare with the newcomer, without the excesses; what [tenants.add] returned if it was called.
func (t *tenants) about(n *newcomer) *outcome {
	if o, known := t.with[n.kind]; known {
		return o
	}
	nodesEstimated.Inc()
	return newOutcome(t.and(n).Estimate(), append(slices.Clone(t.bounds), t.boundOf(n)))
}

// newOutcome returns the outcome of dilations of pods with bounds, of which the newcomer is the last, without the excesses.
func newOutcome(dilations []float64, bounds []nodes.Bound) *outcome {
	o := &outcome{own: dilations[len(dilations)-1], worst: slices.Max(dilations)}
	for j, b := range bounds {
		if b.Max > 0 && dilations[j] > 1 {
			o.risk = max(o.risk, (dilations[j]-1)/(b.Max-1))
		}
	}
	return o
}

// alone returns how the pods fare without a newcomer, by bounds from above or by the accurate model.
func (t *tenants) alone(bounded bool) *nodes.Outlook {
	if t.before == nil || t.before.Bounded() != bounded {
		t.before = outlookOf(t.alike(t.pods, t.vectors), func(float64) bool { return !bounded })
	}
	return t.before
}

// and returns the node with the newcomer, the last of its pods.
func (t *tenants) and(n *newcomer) *nodes.Node {
	return t.alike(append(slices.Clone(t.pods), n.pod), append(slices.Clone(t.vectors), n.on(t.class)))
}

// alike returns the node with these pods on it, with their vectors. Annotations that name devices which are not there are
// ignored, as they are where nodes are priced, which logs them.
func (t *tenants) alike(pods []*corev1.Pod, vectors []contention.Vector) *nodes.Node {
	node, _ := nodes.Tied(t.resources, t.node, t.class, pods, vectors)
	return node
}

// outlookOf returns how the pods of a node fare.
func outlookOf(node *nodes.Node, granted func(steps float64) bool) *nodes.Outlook {
	nodesSolved.Inc()
	return node.Outlook(granted)
}

// without returns the pods of the node but for one. It has no ceiling.
func (t *tenants) without(pod int) *tenants {
	return &tenants{
		resources: t.resources, node: t.node, class: t.class, servers: t.servers, known: t.known,
		pods:      slices.Delete(slices.Clone(t.pods), pod, pod+1),
		workloads: slices.Delete(slices.Clone(t.workloads), pod, pod+1),
		vectors:   slices.Delete(slices.Clone(t.vectors), pod, pod+1),
		bounds:    slices.Delete(slices.Clone(t.bounds), pod, pod+1),
		kinds:     slices.Delete(slices.Clone(t.kinds), pod, pod+1),
	}
}

// bounded reports whether some pod has a bound.
func (t *tenants) bounded() bool {
	return slices.ContainsFunc(t.bounds, func(b nodes.Bound) bool { return b.Max > 0 })
}
