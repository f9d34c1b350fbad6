package savings

import (
	"cmp"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// MaxNodes is how many nodes are looked at. In a larger cluster these stand for all: see [Sample].
const MaxNodes = 100

// maxSteps bounds what looking at them takes, in steps of the accurate model: seconds. Nodes for which none are left are not looked at.
const maxSteps = 10 * node.MaxSteps

// controlPlaneTaint is the taint of nodes that are for the control plane only.
const controlPlaneTaint = "node-role.kubernetes.io/control-plane"

// Sample returns the nodes that pods may use, at most [MaxNodes], evenly spaced among all of these in the order of their names, and how
// many there are of these. Nodes that are for the control plane are none of them.
func Sample(nodes []corev1.Node) (sample []corev1.Node, all int) {
	workers := slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool {
		return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == controlPlaneTaint })
	})
	slices.SortFunc(workers, func(a, b corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for i := range min(len(workers), MaxNodes) {
		sample = append(sample, workers[i*max(len(workers), MaxNodes)/MaxNodes])
	}
	return sample, len(workers)
}

// Cluster is a cluster, or a sample of it.
type Cluster struct {
	// Nodes are the sample of AllNodes, and Pods are those of these nodes.
	Nodes    []corev1.Node
	AllNodes int
	Pods     []corev1.Pod
	// Workloads and Classes are the profiles that pods and nodes may follow, and Requests are the rules for pods without one.
	Workloads []v1alpha1.WorkloadProfile
	Classes   []v1alpha1.NodeProfile
	Requests  []config.RequestRule
	// Schedulers are the names of those that place pods by dilation.
	Schedulers []string
}

// Contention is how much the pods of a cluster slow each other down.
type Contention struct {
	// Nodes is how many nodes were looked at, of AllNodes.
	Nodes    int `json:"nodes"`
	AllNodes int `json:"allNodes"`
	// Pods is how many there use some resource, WithoutProfile how many of them count by their requests, and ByDilation how many were
	// placed by dilation.
	Pods           int `json:"pods"`
	WithoutProfile int `json:"withoutProfile"`
	ByDilation     int `json:"byDilation"`
	// ExcessDilation is the mean of λ − 1 over the pods.
	ExcessDilation float64 `json:"excessDilation"`
	Point
}

// Contention returns how much the pods slow each other down by the accurate model; nil where no pod uses anything.
func (c *Cluster) Contention() *Contention {
	index := profile.NewIndex(c.Requests, logr.Discard())
	for i := range c.Workloads {
		index.OnAdd(&c.Workloads[i], true)
	}
	for i := range c.Classes {
		index.OnAdd(&c.Classes[i], true)
	}
	snapshot, byNode := index.Snapshot(), map[string][]*corev1.Pod{}
	for i := range c.Pods {
		if p := &c.Pods[i]; !cgroup.Ended(p) {
			byNode[p.Spec.NodeName] = append(byNode[p.Spec.NodeName], p)
		}
	}
	s := &sum{cluster: c, steps: maxSteps, servers: make([]int, len(snapshot.Resources().Names()))}
	for i := range c.Nodes {
		object := &c.Nodes[i]
		s.add(node.Of(snapshot, object, snapshot.NodeClass(object), byNode[object.Name]))
	}
	at, found := PointOf(s.servers, snapshot.Resources().Processor(), s.vectors)
	if !found {
		return nil
	}
	s.Point, s.AllNodes = at, c.AllNodes
	s.ExcessDilation /= float64(s.Pods)
	return &s.Contention
}

// sum adds up nodes.
type sum struct {
	Contention // its excess is of all pods together

	cluster *Cluster
	steps   float64 // that are left
	servers []int
	vectors []loading.Vector
}

// granted is the [node.Budget] of all nodes.
func (s *sum) granted(steps float64) bool {
	if !node.Granted(steps) || steps > s.steps {
		return false
	}
	s.steps -= steps
	return true
}

// add adds a node, unless it cannot be worked out how its pods fare.
func (s *sum) add(n *node.Node) {
	outlook := n.Outlook(s.granted)
	if outlook.Bounded() {
		return
	}
	s.Nodes++
	for r := range s.servers {
		s.servers[r] += n.Servers[r]
	}
	for j := range n.Pods {
		p := &n.Pods[j]
		if idle(p.Vector) {
			continue
		}
		s.Pods++
		s.vectors = append(s.vectors, p.Vector)
		s.ExcessDilation += outlook.Dilations[j] - 1
		if p.Workload == nil {
			s.WithoutProfile++
		}
		if slices.Contains(s.cluster.Schedulers, cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)) {
			s.ByDilation++
		}
	}
}

// idle reports whether a pod waits nowhere.
func idle(v loading.Vector) bool {
	return !slices.ContainsFunc(v, func(d loading.Demand) bool { return d.Loading > 0 })
}
