package dilation

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

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

// residents are the pods of one node, as it is priced for a candidate and bounds are checked for it. Which pods they are does not change; what is
// worked out of them is kept when it is first asked for. They are kept through many snapshots of the profiles (see nodeTable), and so hold what
// they need of one, and not the snapshot.
type residents struct {
	*profile.Followed

	object    *corev1.Node
	class     *profile.NodeClass // that it follows, nil for none
	resources *profile.Resources
	servers   []int
	cpu       int

	infos   []fwk.PodInfo // of the pods, to see without a look at these which have changed
	kinds   []kind        // of the pods
	alike   []residing    // the pods of each kind, in the order of these
	ceiling *contention.Ceiling
	known   *kinds

	judge *node.Guard // nil until it is asked, see guard
	with  map[kind]*outcome
}

// residing are the pods of a node that are of one kind.
type residing struct {
	kind       kind
	count      int
	vector     loading.Vector
	bound      node.Bound
	share      loading.Share
	importance float64
}

// outcome is the verdict on a candidate.
type outcome struct {
	node.Verdict

	// provisional says that the dilations are bounds from above because the budget of the cycle was exhausted.
	provisional bool
}

// newResidents returns the pods of a node, by the profiles that they follow. What is known of them from before the node changed, nil
// for nothing, is taken from there; it must be of the same version, and is not asked again. It takes O(n) time for n pods, and is slow for those
// only that were not there before.
func newResidents(m *modes, known *kinds, c *cycle, info fwk.NodeInfo, before *residents) *residents {
	object, infos, pods := info.Node(), slices.Clone(info.GetPods()), podsAfter(before, info)
	resources, class := c.snapshot.Resources(), c.snapshot.NodeClass(object)
	r := &residents{
		object: object, class: class, resources: resources, servers: resources.Servers(object, class), cpu: resources.Processor(),
		infos: infos, kinds: make([]kind, len(pods)), known: known,
	}
	if before == nil {
		r.Followed = c.snapshot.Follow(pods)
	} else {
		r.Followed = c.snapshot.FollowAfter(before.Followed, pods)
	}
	if !r.likeNodeOf(before) {
		before = nil
	}
	if before != nil {
		r.alike = slices.Clone(before.alike)
		for _, gone := range before.kinds[min(len(pods), len(before.kinds)):] {
			r.ofKind(gone).count--
		}
	}
	var come []residing
	if before == nil {
		come = make([]residing, 0, len(pods))
	}
	for j, pod := range pods {
		if before.has(j, pod, r.Workloads[j]) {
			r.kinds[j] = before.kinds[j]
			continue
		}
		if before != nil && j < len(before.kinds) {
			r.ofKind(before.kinds[j]).count--
		}
		p := newFollower(c.snapshot, m, pod, r.Workloads[j]) // as it was when it came
		r.kinds[j] = known.number(p)
		if last := len(come) - 1; last >= 0 && come[last].kind == r.kinds[j] {
			come[last].count++
		} else {
			on := r.podOf(p)
			come = append(come, residing{kind: r.kinds[j], count: 1, vector: on.Vector, bound: on.Bound, share: p.share, importance: p.importance})
		}
	}
	r.alike = merged(append(come, r.alike...))
	r.ceiling = contention.NewCeiling(r.servers, r.cpu)
	for i := range r.alike {
		some := &r.alike[i]
		r.ceiling.Add(some.vector, some.share, some.count)
	}
	return r
}

// podsAfter returns the pods of a node, of which some may have been on it before, at the same places. The scheduler has a pod that is on a node
// in the same PodInfo as long as it does not change.
func podsAfter(before *residents, node fwk.NodeInfo) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(node.GetPods()))
	for j, info := range node.GetPods() {
		if before != nil && j < len(before.infos) && before.infos[j] == info {
			pods[j] = before.Pods[j]
		} else {
			pods[j] = info.GetPod()
		}
	}
	return pods
}

// merged returns pods in the order of their kinds, each kind once, if there are any. It changes the list that it is given.
func merged(all []residing) []residing {
	slices.SortStableFunc(all, func(a, b residing) int { return cmp.Compare(a.kind, b.kind) })
	kinds := all[:0]
	for _, some := range all {
		if last := len(kinds) - 1; last >= 0 && kinds[last].kind == some.kind {
			kinds[last].count += some.count
		} else {
			kinds = append(kinds, some)
		}
	}
	return slices.Clone(slices.DeleteFunc(kinds, func(some residing) bool { return some.count == 0 }))
}

// likeNodeOf reports whether others are on a node that is like this one, but for its pods. It is not if they are nil.
func (r *residents) likeNodeOf(others *residents) bool {
	return others != nil && r.class == others.class && slices.Equal(r.servers, others.servers)
}

// has reports whether the j-th pod is this one, and follows this profile.
func (r *residents) has(j int, pod *corev1.Pod, w *profile.Workload) bool {
	return r != nil && j < len(r.Pods) && r.Pods[j] == pod && r.Workloads[j] == w
}

// fareAs reports whether these are the same pods as others, of the same kinds, on a node like theirs, though objects have changed in what does
// not count: a pod that was assumed is bound, another one has become ready, the node has sent a heartbeat. What was found for one holds for the
// other then. A node with devices is not known to be like any other.
func (r *residents) fareAs(others *residents) bool {
	if !r.likeNodeOf(others) || r.class.HasDevices() || len(r.Pods) != len(others.Pods) {
		return false
	}
	type name struct {
		types.NamespacedName
		uid types.UID
	}
	nameOf := func(pod *corev1.Pod) name {
		return name{types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod.UID}
	}
	var were map[name]kind // those of others that are not here at the same place
	for j, pod := range r.Pods {
		if pod == others.Pods[j] && r.kinds[j] == others.kinds[j] {
			continue
		}
		if were == nil {
			were = map[name]kind{}
		}
		were[nameOf(others.Pods[j])] = others.kinds[j]
	}
	for j, pod := range r.Pods {
		if pod == others.Pods[j] && r.kinds[j] == others.kinds[j] {
			continue
		}
		at := nameOf(pod)
		if were[at] != r.kinds[j] {
			return false
		}
		delete(were, at)
	}
	return true
}

// ofKind returns the pods that are of a kind that there is.
func (r *residents) ofKind(k kind) *residing {
	at, _ := slices.BinarySearchFunc(r.alike, k, func(some residing, k kind) int { return cmp.Compare(some.kind, k) })
	return &r.alike[at]
}

// bounded reports whether some pod has a bound.
func (r *residents) bounded() bool {
	return slices.ContainsFunc(r.alike, func(some residing) bool { return some.bound.Max > 0 })
}

// guard returns the guard of the node.
func (r *residents) guard() *node.Guard {
	if r.judge == nil {
		pods := make([]node.Pod, len(r.Pods))
		for j, pod := range r.Pods {
			some := r.ofKind(r.kinds[j])
			pods[j] = node.Pod{Pod: pod, Vector: some.vector, Workload: r.Workloads[j], Bound: some.bound}
		}
		// Annotations that name devices which are not there are ignored, as they are where nodes are priced, which logs them.
		r.judge = &node.Guard{Node: node.New(r.resources, r.object, r.class, pods)}
	}
	return r.judge
}

// node returns the node with its pods.
func (r *residents) node() *node.Node { return r.guard().Node }

// podOf returns the candidate on the node.
func (r *residents) podOf(n *candidate) node.Pod {
	return n.on(r.class, r.servers, r.cpu)
}

// and returns the node with the candidate, the last of its pods.
func (r *residents) and(n *candidate) *node.Node { return r.node().With(r.podOf(n)) }

// certain reports whether no pod can be dilated more than it may be once the candidate is there, without solving the model. The
// limits are those of the candidate and of each pod, 0 for none.
func (r *residents) certain(n *candidate, own float64, limit func(node.Bound) float64) bool {
	var with *contention.Ceiling
	below := func(v loading.Vector, most float64) bool {
		if most == 0 {
			return true
		}
		if with == nil {
			with = r.ceiling.With(n.vectorOn(r.class), n.share)
		}
		return with.Dilation(v) <= most
	}
	if !below(n.vectorOn(r.class), own) {
		return false
	}
	for i := range r.alike {
		if some := &r.alike[i]; !below(some.vector, limit(some.bound)) {
			return false
		}
	}
	return true
}

// most returns a bound from above on the dilation of the candidate on the node, +Inf where there is no simple one.
func (r *residents) most(n *candidate) float64 {
	v := n.vectorOn(r.class)
	return r.ceiling.With(v, n.share).Dilation(v)
}

// add returns how the pods fare with the candidate, by the accurate model as far as the budget allows. It solves the model once for
// nodes and candidates that are alike.
func (r *residents) add(n *candidate, b *budget) *outcome {
	if o, known := r.with[n.kind]; known {
		return o
	}
	var o *outcome
	if alike := r.alikeAs(); alike == "" {
		o = r.solve(n, b)
	} else {
		order := r.order()
		key := string(binary.AppendUvarint(nil, uint64(n.kind))) + alike
		o = r.known.outcomes.of(key, func() (*outcome, bool) {
			o := r.solve(n, b).in(inverse(order))
			return o, !o.provisional
		}).in(order)
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
	g, guard := grant{budget: b}, r.guard()
	solved := guard.Solved
	o := &outcome{Verdict: *guard.Judge(r.podOf(n), n.hold, g.granted)}
	o.provisional = g.exhausted
	nodesSolved.Add(float64(guard.Solved - solved))
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

// without returns the pods of the node but for one, to be judged.
func (r *residents) without(pod int) *residents {
	others := &residents{
		class: r.class, servers: r.servers, cpu: r.cpu, kinds: slices.Delete(slices.Clone(r.kinds), pod, pod+1), alike: slices.Clone(r.alike), known: r.known,
		judge: &node.Guard{Node: r.node().Without(pod)},
	}
	others.ofKind(r.kinds[pod]).count--
	others.alike = merged(others.alike)
	return others
}
