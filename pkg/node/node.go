// Package node is a node with the pods on it, as every answer about one has it: how these fare, how they would without one of
// them, with another one, or with another request or limit, and whether the scheduler's guard would let a pod go there. The
// scheduler plugin, explain, who and predict ask the same functions, so that they cannot disagree.
//
// A [Node] is a snapshot: a value that does not change. It takes pods with their loading vectors, wherever these are from ([Of]
// takes those of profiles). [Node.Outlook] says how they fare, [Guard] judges a candidate by the bounds of all of them, and a
// [Feasibility] says whether it fits there. The package has no access to a cluster, a clock or a file.
package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/profile"
)

// Node is a node with the pods on it. Methods that change something return another one.
type Node struct {
	Name string
	// Class is the NodeProfile that it follows, nil for none.
	Class *profile.NodeClass
	// Pods have not ended.
	Pods []Pod
	// Servers are those of the node's resources, of which CPU is the index of its cores.
	Servers []int
	CPU     int
	// Weights say how the kubelet makes weights of requests.
	Weights cgroup.Options
	// System is what runs in no pod.
	System System
	// Devices are those of the node, nil where it is not of a class that has some.
	Devices *profile.Assignment
	// Ignored is nil, or names the pods whose annotations of devices are wrong: these are ignored.
	Ignored error

	object    *corev1.Node
	resources *profile.Resources
}

// Pod is a pod of a node, or a candidate for it.
type Pod struct {
	*corev1.Pod
	// Vector is its loading vector on nodes of the class, before it is assigned to devices.
	Vector loading.Vector
	// Workload is the profile that it follows, nil for none, and Bound how much it may be dilated on the node.
	Workload *profile.Workload
	Bound    Bound
	// Devices are those of the node that it uses and shares, and DevicesAssumed says that no annotation names them.
	Devices        []profile.Device
	DevicesAssumed bool

	atDevices loading.Vector // nil where that is Vector
}

// AtDevices returns the loading vector of the pod at the devices that it is assigned to.
func (p Pod) AtDevices() loading.Vector {
	if p.atDevices == nil {
		return p.Vector
	}
	return p.atDevices
}

// WithVector returns the pod with another vector at its devices.
func (p Pod) WithVector(atDevices loading.Vector) Pod {
	if p.atDevices == nil {
		p.Vector = atDevices
	} else {
		p.atDevices = atDevices
	}
	return p
}

// System is what runs on a node in no pod: the zero value is nothing.
type System struct {
	// Vector is nil for nothing.
	Vector loading.Vector
	// Allocatable is how much CPU pods may request, in thousandths of a core: the system's part of the CPU follows from it.
	Allocatable int64
}

// New returns a node of a class, nil for none, with pods on it, assigned to the devices that it has: see
// [profile.Resources.Assign].
func New(r *profile.Resources, object *corev1.Node, class *profile.NodeClass, pods []Pod) *Node {
	n := &Node{Name: object.Name, Servers: r.Servers(object, class), CPU: r.Processor(), object: object, Class: class, resources: r}
	return n.assign(pods)
}

// Of is [New] with the vectors that pods have by the profiles of a snapshot, and without bounds.
func Of(s *profile.Snapshot, object *corev1.Node, class *profile.NodeClass, pods []*corev1.Pod) *Node {
	all := make([]Pod, len(pods))
	for j, pod := range pods {
		all[j] = PodOf(s, class, pod)
	}
	return New(s.Resources(), object, class, all)
}

// PodOf returns a pod on nodes of a class, nil for none, by the profiles of a snapshot, and without a bound.
func PodOf(s *profile.Snapshot, class *profile.NodeClass, pod *corev1.Pod) Pod {
	return Pod{Pod: pod, Vector: s.VectorOn(class.Class(), pod), Workload: s.Workload(pod)}
}

// assign returns the node with these pods, assigned to devices anew.
func (n *Node) assign(pods []Pod) *Node {
	if !n.Class.HasDevices() {
		return n.with(pods)
	}
	other := n.with(slices.Clone(pods))
	objects, vectors := make([]*corev1.Pod, len(pods)), make([]loading.Vector, len(pods))
	for j := range pods {
		objects[j], vectors[j] = pods[j].Pod, pods[j].Vector
	}
	other.Devices, other.Ignored = n.resources.Assign(n.object, n.Class, objects, vectors)
	for j := range other.Pods {
		p := &other.Pods[j]
		p.atDevices, p.Devices, p.DevicesAssumed = other.Devices.Vectors[j], other.Devices.Devices[j], other.Devices.Assumed[j]
	}
	return other
}

// with returns the node with these pods, at the devices where they are.
func (n *Node) with(pods []Pod) *Node {
	other := *n
	other.Pods = pods
	return &other
}

// Vectors returns those of the pods, at their devices.
func (n *Node) Vectors() []loading.Vector {
	vectors := make([]loading.Vector, len(n.Pods), len(n.Pods)+1) // and the system
	for j := range n.Pods {
		vectors[j] = n.Pods[j].AtDevices()
	}
	return vectors
}

// Without returns the node without its pod of index i. The others stay at their devices.
func (n *Node) Without(i int) *Node {
	return n.with(slices.Delete(slices.Clone(n.Pods), i, i+1))
}

// only returns the node with some of its pods, by index, which stay at their devices.
func (n *Node) only(some []int) *Node {
	pods := make([]Pod, len(some))
	for k, j := range some {
		pods[k] = n.Pods[j]
	}
	return n.with(pods)
}

// With returns the node with one more pod, the last. Which devices pods use that no annotation names follows from the order in which
// they were created.
func (n *Node) With(pod Pod) *Node {
	return n.assign(append(slices.Clone(n.Pods), pod))
}

// WithVector returns the node on which the pod of index i has another vector at its devices.
func (n *Node) WithVector(i int, atDevices loading.Vector) *Node {
	pods := slices.Clone(n.Pods)
	pods[i] = pods[i].WithVector(atDevices)
	return n.with(pods)
}

// WithLimit returns the node on which a container of the pod of index i has another limit. See [cgroup.WithLimit].
func (n *Node) WithLimit(i int, container string, limit resource.Quantity) *Node {
	return n.WithObject(i, cgroup.WithLimit(n.Pods[i].Pod, container, limit))
}

// WithCPU returns the node on which the pod of index i has another request or limit; nil leaves one unchanged. See
// [cgroup.WithCPU].
func (n *Node) WithCPU(i int, request, limit *resource.Quantity) (*Node, error) {
	pod, err := cgroup.WithCPU(n.Pods[i].Pod, request, limit)
	if err != nil {
		return nil, err
	}
	return n.WithObject(i, pod), nil
}

// WithObject returns the node on which the pod of index i is another object, with the same vector at the same devices.
func (n *Node) WithObject(i int, pod *corev1.Pod) *Node {
	pods := slices.Clone(n.Pods)
	pods[i].Pod = pod
	return n.with(pods)
}

// Resources returns the names of the node's resources, in the order of vectors.
func (n *Node) Resources() []string { return n.resources.Names() }

// Bounded reports whether some pod has a bound.
func (n *Node) Bounded() bool {
	return slices.ContainsFunc(n.Pods, func(p Pod) bool { return p.Bound.Max > 0 })
}
