package dilation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// candidate is the pod that is being placed, as bounds are checked for it.
type candidate struct {
	pod      *corev1.Pod
	follows  *profile.Workload // nil if it follows none
	workload *profile.Workload // the same, nil if that has no vector yet
	requests loading.Vector    // its vector where workload is nil
	share    loading.Share
	promise  node.Promise
	// importance is how many times its waiting counts.
	importance float64
	// devices are the extended resources of devices that it requests, and what its annotation says of devices.
	devices string
	// hold is the dilation above which it waits, 0 for none.
	hold float64
	kind kind
}

func newCandidate(s *profile.Snapshot, m *modes, pod *corev1.Pod) *candidate {
	return newFollower(s, m, pod, s.Workload(pod))
}

// newFollower returns a pod that follows a profile, nil for none.
func newFollower(s *profile.Snapshot, m *modes, pod *corev1.Pod, w *profile.Workload) *candidate {
	n := &candidate{
		pod: pod, follows: w, workload: w, share: profile.GroupedShare(pod), importance: s.ImportanceOf(w),
		promise: node.NewPromise(pod, w, m.of(pod.Namespace), m.limits),
	}
	n.devices = strings.Join(append(s.RequestedDevices(pod), pod.Annotations[v1alpha1.DevicesAnnotation]), ",")
	if w == nil || w.Elsewhere() == nil {
		n.workload, n.requests = nil, s.VectorOn(profile.AnyClass, pod)
	}
	return n
}

// vectorOn returns its vector on nodes of a class.
func (n *candidate) vectorOn(c *profile.NodeClass) loading.Vector {
	if n.workload == nil {
		return n.requests
	}
	return n.workload.On(c.Class()).Vector
}

// anywhere returns its vector on nodes of all classes, nil if it is not the same on all.
func (n *candidate) anywhere() loading.Vector {
	if n.workload == nil {
		return n.requests
	}
	if len(n.workload.Found()) > 0 {
		return nil
	}
	return n.workload.On(profile.AnyClass).Vector
}

// on returns the pod on nodes of a class with some servers, of which cpu is the index of the cores.
func (n *candidate) on(c *profile.NodeClass, servers []int, cpu int) node.Pod {
	v := n.vectorOn(c)
	return node.Pod{Pod: n.pod, Vector: v, Workload: n.follows, Bound: n.promise.On(v[cpu], servers[cpu])}
}

// residents are the pods of one node, as bounds are checked for them. They are kept through many snapshots of the profiles (see
// nodeTable), and so hold what they need of one, and not the snapshot.
type residents struct {
	node.Guard

	ceiling *contention.Ceiling
	kinds   []kind
	shares  []loading.Share
	known   *kinds

	with map[kind]*outcome
}

// outcome is the verdict on a candidate.
type outcome struct {
	node.Verdict

	// provisional says that the dilations are bounds from above because the budget of the cycle was exhausted.
	provisional bool
}

// newResidents returns the pods of a node, by the profiles that they follow. What is known of them from before the node changed, nil
// for nothing, is taken from there; it must be of the same version.
func newResidents(m *modes, known *kinds, c *cycle, object *corev1.Node, f *profile.Followed, before *residents) *residents {
	resources, class := c.snapshot.Resources(), c.snapshot.NodeClass(object)
	servers, cpu := resources.Servers(object, class), resources.Processor()
	r := &residents{
		ceiling: contention.NewCeiling(servers, cpu), kinds: make([]kind, len(f.Pods)), shares: make([]loading.Share, len(f.Pods)), known: known,
	}
	if before != nil && (before.Node.Class != class || !slices.Equal(before.Node.Servers, servers)) {
		before = nil
	}
	pods := make([]node.Pod, len(f.Pods))
	for j, pod := range f.Pods {
		if before.has(j, pod, f.Workloads[j]) {
			pods[j], r.kinds[j], r.shares[j] = before.Node.Pods[j], before.kinds[j], before.shares[j]
		} else {
			p := newFollower(c.snapshot, m, pod, f.Workloads[j]) // as it was when it came
			pods[j], r.kinds[j], r.shares[j] = p.on(class, servers, cpu), known.number(p), p.share
		}
		r.ceiling.Add(pods[j].Vector, r.shares[j])
	}
	// Annotations that name devices which are not there are ignored, as they are where nodes are priced, which logs them.
	r.Node = node.New(resources, object, class, pods)
	return r
}

// has reports whether the j-th pod is this one, and follows this profile.
func (r *residents) has(j int, pod *corev1.Pod, w *profile.Workload) bool {
	return r != nil && j < len(r.Node.Pods) && r.Node.Pods[j].Pod == pod && r.Node.Pods[j].Workload == w
}

// podOf returns the candidate on the node.
func (r *residents) podOf(n *candidate) node.Pod {
	return n.on(r.Node.Class, r.Node.Servers, r.Node.CPU)
}

// and returns the node with the candidate, the last of its pods.
func (r *residents) and(n *candidate) *node.Node { return r.Node.With(r.podOf(n)) }

// certain reports whether no pod can be dilated more than it may be once the candidate is there, without solving the model. The
// limits are those of the candidate and of each pod, 0 for none.
func (r *residents) certain(n *candidate, own float64, limit func(node.Bound) float64) bool {
	var with *contention.Ceiling
	below := func(v loading.Vector, most float64) bool {
		if most == 0 {
			return true
		}
		if with == nil {
			with = r.ceiling.With(n.vectorOn(r.Node.Class), n.share)
		}
		return with.Dilation(v) <= most
	}
	if !below(n.vectorOn(r.Node.Class), own) {
		return false
	}
	for j := range r.Node.Pods {
		if j > 0 && r.kinds[j] == r.kinds[j-1] {
			continue // it has the same vector and the same bound
		}
		if p := &r.Node.Pods[j]; !below(p.Vector, limit(p.Bound)) {
			return false
		}
	}
	return true
}

// add returns how the pods fare with the candidate, by the accurate model as far as the budget allows. It solves the model once for
// nodes and candidates that are alike.
func (r *residents) add(n *candidate, b *budget) *outcome {
	if o, known := r.with[n.kind]; known {
		return o
	}
	var o *outcome
	if key, order := r.key(n.kind); key == "" {
		o = r.solve(n, b)
	} else {
		o = r.known.outcome(key, func() *outcome { return r.solve(n, b).in(inverse(order)) }).in(order)
	}
	if o.provisional {
		return o
	}
	if r.with == nil || len(r.with) == maxPerNode {
		r.with = map[kind]*outcome{}
	}
	r.with[n.kind] = o
	return o
}

// solve computes how the pods fare with the candidate.
func (r *residents) solve(n *candidate, b *budget) *outcome {
	g, solved := grant{budget: b}, r.Solved
	o := &outcome{Verdict: *r.Judge(r.podOf(n), n.hold, g.granted)}
	o.provisional = g.exhausted
	nodesSolved.Add(float64(r.Solved - solved))
	return o
}

// estimate returns an estimate of how the pods fare with the candidate; what [residents.add] returned if it was called.
func (r *residents) estimate(n *candidate) node.Extremes {
	if o, known := r.with[n.kind]; known {
		return o.Extremes
	}
	nodesEstimated.Inc()
	with := r.and(n)
	return with.Extremes(with.Estimate())
}

// without returns the pods of the node but for one. It has no ceiling.
func (r *residents) without(pod int) *residents {
	return &residents{Guard: node.Guard{Node: r.Node.Without(pod)}, known: r.known, kinds: slices.Delete(slices.Clone(r.kinds), pod, pod+1)}
}
