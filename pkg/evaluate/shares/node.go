package shares

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/text"
)

// NodeInput is what the shares of a node's pods are about.
type NodeInput struct {
	// Node is the node's name, for the answer.
	Node string
	// Cores is how many the node has, at least 1.
	Cores int
	// Pods are those on the node.
	Pods []corev1.Pod
	// Usage is how many cores each container keeps busy on average. One that is
	// missing keeps none.
	Usage map[cgroup.Container]float64
	// Weights say how shares become weights.
	Weights cgroup.Options
	// Requests are what to change about the pods; with some, the answer says what
	// was before, too.
	Requests []RequestChange
	// Options say how to compute the response times.
	Options Options
}

// RequestChange gives a container another CPU request.
type RequestChange struct {
	// Pod is namespace/name, or a name that is the only one of its kind.
	Pod string
	// Container may be left out for a pod with a single one.
	Container string
	CPU       resource.Quantity
}

// NodeAnswer is what response times the shares of a node's pods give. Its tree
// is that of package cgroup, the shares are weights, and a pod with several
// containers has a factor, too: the mean of theirs, by usage.
type NodeAnswer struct {
	*TreeAnswer
	// Weights is how the shares of containers became weights: linear, log or none.
	Weights string `json:"weights"`
	// Unmeasured is how many containers have no usage.
	Unmeasured int `json:"unmeasured,omitempty"`
	// Exclusive are the pods with cores of their own, which are not in the tree.
	Exclusive []ExclusivePod `json:"exclusive,omitempty"`
}

// ExclusivePod is a pod with cores of its own.
type ExclusivePod struct {
	Pod   string `json:"pod"`
	Cores int    `json:"cores"`
}

// OfNode computes the response times that the cgroups of a node's pods give. The
// errors are those of [OfTree], and those that name a change.
func OfNode(ctx context.Context, in NodeInput) (*NodeAnswer, error) {
	options, err := in.Options.model()
	if err != nil {
		return nil, err
	}
	if in.Cores < 1 || in.Cores > fairshare.MaxServers {
		return nil, fmt.Errorf("cores: %d is not between 1 and %d", in.Cores, fairshare.MaxServers)
	}
	changed, err := changeRequests(in.Pods, in.Requests)
	if err != nil {
		return nil, err
	}
	before, err := in.answer(ctx, in.Pods, options)
	if err != nil || len(in.Requests) == 0 {
		return before, err
	}
	after, err := in.answer(ctx, changed, options)
	if err != nil {
		return nil, err
	}
	after.compare(before)
	return after, nil
}

// answer solves the tree of some pods.
func (in *NodeInput) answer(ctx context.Context, pods []corev1.Pod, options fairshare.Options) (*NodeAnswer, error) {
	there := make([]*corev1.Pod, len(pods))
	for i := range pods {
		there[i] = &pods[i]
	}
	root := cgroup.Build(there, in.Weights)
	exclusive, cores := in.exclusive(pods), in.Cores
	for _, e := range exclusive {
		cores -= e.Cores
	}
	switch {
	case len(root.Children) == 0 && len(exclusive) > 0:
		return nil, errors.New("pods: all have cores of their own: none shares the others")
	case len(root.Children) == 0:
		return nil, errors.New("pods: there is none that runs on the node")
	case cores < 1:
		return nil, fmt.Errorf("cores: pods have %d for themselves, of %d: none is left for the others", in.Cores-cores, in.Cores)
	}
	tree, err := fairshare.New(&fairshare.Group{Children: root.Members(func(c cgroup.Container) float64 { return in.Usage[c] })})
	if err != nil {
		return nil, err
	}
	s := &model{name: in.Node, processors: cores, tree: tree}
	solved, err := s.answer(ctx, options)
	if err != nil {
		return nil, err
	}
	a := &NodeAnswer{TreeAnswer: solved, Weights: in.Weights.Containers.String(), Exclusive: exclusive}
	root.Containers(func(c cgroup.Container) {
		if _, measured := in.Usage[c]; !measured {
			a.Unmeasured++
		}
	})
	for i, g := range preorder(root)[1:] {
		n := &a.Nodes[i]
		n.RequestMilliCPU = &g.MilliCPU
		if g.Pod && !n.Workload {
			n.Factor = new(podFactor(a.Nodes[i+1 : i+1+len(g.Children)]))
		}
	}
	return a, nil
}

// exclusive returns the pods with cores of their own.
func (in *NodeInput) exclusive(pods []corev1.Pod) (exclusive []ExclusivePod) {
	for i := range pods {
		if cores := cgroup.Exclusive(&pods[i]); in.Weights.StaticCPUs && cores > 0 && !cgroup.Ended(&pods[i]) {
			exclusive = append(exclusive, ExclusivePod{text.QualifiedName(&pods[i]), cores})
		}
	}
	return exclusive
}

// preorder returns the groups of a tree, each before its members.
func preorder(g *cgroup.Group) []*cgroup.Group {
	all := []*cgroup.Group{g}
	for _, child := range g.Children {
		all = append(all, preorder(child)...)
	}
	return all
}

// podFactor is the mean factor of containers, by usage: that of the pod's work. With
// none, that of the containers.
func podFactor(containers []TreeNode) float64 {
	sum, total, plain := 0.0, 0.0, 0.0
	for _, c := range containers {
		sum += c.Utilization * *c.Factor
		total += c.Utilization
		plain += *c.Factor / float64(len(containers))
	}
	if total == 0 {
		return plain
	}
	return sum / total
}

// compare fills in what was before. A pod may have changed its class, and so its
// place; then it is found by its name.
func (a *NodeAnswer) compare(before *NodeAnswer) {
	was := map[string]int{}
	for i := range before.Nodes {
		was[withoutClass(before.Nodes[i].Path)] = i
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		k, known := was[withoutClass(n.Path)]
		if !known {
			n.RequestMilliCPUBefore = new(int64) // a class that had no pods
			continue
		}
		n.RequestMilliCPUBefore = before.Nodes[k].RequestMilliCPU
		n.FactorBefore = before.Nodes[k].Factor
		if share := before.Nodes[k].Share; share != n.Share {
			n.ShareBefore = &share
		}
	}
}

// withoutClass returns a path without the QoS class at its beginning.
func withoutClass(path string) string {
	class, rest, below := strings.Cut(path, fairshare.Separator)
	if below && (class == "burstable" || class == "besteffort") {
		return rest
	}
	return path
}

// changeRequests returns the pods with the changes made.
func changeRequests(pods []corev1.Pod, changes []RequestChange) ([]corev1.Pod, error) {
	pods = slices.Clone(pods)
	for _, c := range changes {
		i, err := podNamed(pods, c.Pod)
		if err != nil {
			return nil, err
		}
		if c.CPU.Sign() < 0 {
			return nil, fmt.Errorf("%s: a request of %s is negative", c.Pod, c.CPU.String())
		}
		var names []string
		cgroup.Build([]*corev1.Pod{&pods[i]}, cgroup.Options{}).Containers(func(c cgroup.Container) { names = append(names, c.Name) })
		container := c.Container
		if container == "" && len(names) == 1 {
			container = names[0]
		}
		if !slices.Contains(names, container) {
			return nil, fmt.Errorf("%s: which container? It runs %s: write %s/%s", c.Pod, strings.Join(names, ", "), c.Pod, strings.Join(names[:min(1, len(names))], ""))
		}
		pods[i] = *cgroup.WithRequest(&pods[i], container, c.CPU)
	}
	return pods, nil
}

// podNamed returns the place of a pod.
func podNamed(pods []corev1.Pod, name string) (int, error) {
	found := -1
	for i := range pods {
		full := pods[i].Namespace + "/" + pods[i].Name
		if full == name {
			return i, nil
		}
		if pods[i].Name == name {
			if found >= 0 {
				return 0, fmt.Errorf("%s: there are several such pods: write %s or %s/%s", name, full, pods[found].Namespace, name)
			}
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("%s: there is no such pod on the node", name)
	}
	return found, nil
}
