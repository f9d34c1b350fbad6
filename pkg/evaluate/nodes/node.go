// Package nodes answers what-if questions about the pods of one node: how they fare, and how they would without one of
// them, with another one, or with another request or limit; and whether the scheduler's guard would let a pod go there. Whether
// it fits there, a [Feasibility] says. It takes pods with their loading vectors, wherever these are from ([Of] takes those of
// profiles), and has no access to a cluster.
package nodes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
)

// Node is a node with the pods on it. It is a value: what changes it returns another one.
type Node struct {
	Name string
	// Pods have not ended, and Vectors are theirs.
	Pods    []*corev1.Pod
	Vectors []contention.Vector
	// Servers are those of the node's resources, of which CPU is the index of its cores.
	Servers []int
	CPU     int
	// Weights say how the kubelet makes weights of requests.
	Weights cgroup.Options
	// System is the vector of what runs in no pod, nil for nothing, and Allocatable how much CPU pods may request, in
	// thousandths of a core, which is by what the system's part of the CPU goes.
	System      contention.Vector
	Allocatable int64
}

// Of returns a node of a class, nil for none, with pods on it, as profiles have their vectors. The error names the pods whose
// annotations of devices are wrong; these are ignored, and the node can be used all the same.
func Of(s *profile.Snapshot, node *corev1.Node, class *profile.NodeClass, pods []*corev1.Pod) (*Node, error) {
	vectors := make([]contention.Vector, len(pods))
	for j, pod := range pods {
		vectors[j] = s.VectorOn(class.Class(), pod)
	}
	return Tied(s.Resources(), node, class, pods, vectors)
}

// Tied is [Of] where the vectors that pods have on nodes of the class are at hand, before the pods are tied to devices.
func Tied(r *profile.Resources, node *corev1.Node, class *profile.NodeClass, pods []*corev1.Pod, vectors []contention.Vector) (*Node, error) {
	tied, wrong := r.Tie(node, class, pods, vectors)
	return &Node{Name: node.Name, Pods: pods, Vectors: tied.Vectors, Servers: r.Servers(node, class), CPU: r.Processor()}, wrong
}

// Share returns how the pods share the node's cores. The error names the node, and the pod if it is about one.
func (n *Node) Share() (*evaluate.SharedNode, error) {
	pods := make([]corev1.Pod, len(n.Pods))
	for i, p := range n.Pods {
		pods[i] = *p
	}
	shared, err := evaluate.Share(pods, n.Vectors, n.Servers, n.CPU, n.Weights)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	if n.System != nil {
		shared.AddSystem(n.System, n.Allocatable, n.Weights.Pods)
	}
	return shared, nil
}

// Predict returns how the pods fare, in their order, and last, where there is one, the system.
func (n *Node) Predict() (*contention.Prediction, error) {
	shared, err := n.Share()
	if err != nil {
		return nil, err
	}
	p, err := shared.Predict(queueing.Options{})
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	return p, nil
}

// Without returns the node without its pod of index i.
func (n *Node) Without(i int) *Node {
	other := *n
	other.Pods = slices.Delete(slices.Clone(n.Pods), i, i+1)
	other.Vectors = slices.Delete(slices.Clone(n.Vectors), i, i+1)
	return &other
}

// With returns the node with one more pod, the last.
func (n *Node) With(pod *corev1.Pod, vector contention.Vector) *Node {
	other := *n
	other.Pods = append(slices.Clone(n.Pods), pod)
	other.Vectors = append(slices.Clone(n.Vectors), vector)
	return &other
}

// WithLimit returns the node on which a container of the pod of index i has another limit. See [cgroup.WithLimit].
func (n *Node) WithLimit(i int, container string, limit resource.Quantity) *Node {
	other := *n
	other.Pods = slices.Clone(n.Pods)
	other.Pods[i] = cgroup.WithLimit(n.Pods[i], container, limit)
	return &other
}

// WithCPU returns the node on which the pod of index i has another request or limit; nil leaves one as it is. See
// [cgroup.WithCPU].
func (n *Node) WithCPU(i int, request, limit *resource.Quantity) (*Node, error) {
	pod, err := cgroup.WithCPU(n.Pods[i], request, limit)
	if err != nil {
		return nil, err
	}
	other := *n
	other.Pods = slices.Clone(n.Pods)
	other.Pods[i] = pod
	return &other, nil
}
