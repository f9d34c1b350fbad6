package observed

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// Cluster holds the observations of all nodes.
type Cluster struct {
	Nodes []*Node // by their names
}

// Node is a node and what was observed there.
type Node struct {
	Object  *corev1.Node
	Name    string
	Problem string // why nothing was observed, if that is so
	Age     float64
	Slowed  float64 // the smallest dilation of a pod that counts as slowed down

	Seconds        float64
	CPUs, cgroup   int
	OtherCPUs      []int // that the node had for less of the time; only intervals of cpus count
	exclusive      bool  // some pod has processors for itself
	BlockedUnknown bool  // the kernel does not account how long tasks are blocked
	// BlockedByPressure reports that how long tasks are blocked is by the pressure of pods.
	BlockedByPressure bool
	// Of the time, in seconds: for how long processors ran anything, pods, pods that have ended since, and what is in no pod, and for
	// how long the hypervisor took them.
	Busy, OfPods, ended, system, Stolen float64
	Pods                                []*Pod
	All                                 []*corev1.Pod // that have not ended, observed or not

	last *lastDisks // nil where nothing was observed

	// Model is the node of the model, with the pods of [Pod.Index], and its solution, nil until it is asked for.
	Model      *node.Node
	Prediction *contention.Prediction

	named sync.Once
	names []neighbour // by named
}

// Pod is a pod that was observed.
type Pod struct {
	*Observation

	Object *corev1.Pod
	UID    string // of its control groups: static pods have another one in the API
	Node   *Node
	Index  int     // of the pod in the model; −1 for one that uses next to nothing
	Limits []Limit // that held it back, if it is slowed down
}

// negligible is the loading of a pod that neither waits nor is waited for.
const negligible = 0.002

// Observe returns what was observed.
func Observe(in *Input, above float64) *Cluster {
	o := NewObserver(in, above)
	for i := range in.Sights {
		o.See(&in.Sights[i])
	}
	return o.Cluster()
}

// Observer takes in what gauges saw, one after the other: what all of them saw need not be in memory at the same time. It is for one
// goroutine at a time.
type Observer struct {
	in    *Input
	above float64
	nodes map[string]*Node
}

// NewObserver returns an observer of the nodes and pods of an input, which must not change; of its sights none was seen yet.
func NewObserver(in *Input, above float64) *Observer {
	o := &Observer{in, above, make(map[string]*Node, len(in.Nodes))}
	for i := range in.Nodes {
		o.nodes[in.Nodes[i].Name] = &Node{Object: &in.Nodes[i], Name: in.Nodes[i].Name, Problem: "there is no gauge"}
	}
	for i := range in.Pods {
		if n := o.nodes[in.Pods[i].Spec.NodeName]; n != nil && !cgroup.Ended(&in.Pods[i]) {
			n.All = append(n.All, &in.Pods[i])
		}
	}
	return o
}

// See takes in what a gauge saw, at most once for each node. Of its intervals none is kept, but for those in which a pod waited at a disk.
func (o *Observer) See(s *Sight) {
	n := o.nodes[s.Node]
	if n == nil {
		n = &Node{Name: s.Node}
		o.nodes[s.Node] = n
	}
	n.see(s, o.above, cmp.Or(o.in.Window, Window), !o.in.WithoutDisks)
	n.newModel(o.in.Weights)
}

// Cluster returns what was observed.
func (o *Observer) Cluster() *Cluster {
	return &Cluster{slices.SortedFunc(maps.Values(o.nodes), func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) })}
}

// see takes what a gauge saw, with what it did of disks or without.
func (n *Node) see(s *Sight, above float64, window time.Duration, withDisks bool) {
	n.Age, n.Slowed = s.Age.Seconds(), min(slowed, above)
	switch {
	case n.Object == nil:
		n.Problem = "the API server does not know the node"
		return
	case s.Problem != "":
		n.Problem = s.Problem
		return
	case len(s.Intervals) == 0:
		n.Problem = "its gauge has not observed anything yet"
		return
	case stale(s.Age.Seconds(), s.Intervals):
		n.Problem = "its gauge has stopped observing"
		return
	}
	n.Problem = ""
	known := n.byUID(s)
	n.seeNode(s.Intervals[latest(s.Intervals, window):], known)
	seen := observe(s.Intervals, above, window, withDisks)
	for _, uid := range slices.Sorted(maps.Keys(seen)) {
		o := seen[uid]
		if pod := known[uid]; pod != nil {
			n.Pods = append(n.Pods, &Pod{Observation: o, Object: pod, UID: uid, Node: n, Index: -1})
		}
	}
}

// seeNode takes what some intervals say of the node itself, given the pods that are known by their UIDs.
func (n *Node) seeNode(intervals []usage.Interval, known map[string]*corev1.Pod) {
	last := &intervals[len(intervals)-1]
	n.last = lastDisksOf(last)
	n.BlockedByPressure = slices.ContainsFunc(last.Pods, func(p usage.Pod) bool { return p.BlockedBy == usage.ByPressure })
	n.cgroup, n.BlockedUnknown = last.CgroupVersion, last.BlockedUnknown
	goesOn := map[string]bool{} // by UIDs
	for i := range last.Pods {
		goesOn[last.Pods[i].UID] = true
	}
	n.CPUs, n.OtherCPUs = processors(intervals)
	for i := range intervals {
		v := &intervals[i]
		if v.CPUs != n.CPUs {
			continue
		}
		n.Seconds += v.Seconds
		n.Busy += v.BusySeconds
		n.Stolen += v.StolenSeconds
		n.exclusive = n.exclusive || v.ExclusiveCPUs
		for k := range v.Pods {
			p := &v.Pods[k]
			switch {
			case known[p.UID] != nil:
				n.OfPods += p.Run
			case last.LeftOut == 0 && !goesOn[p.UID]:
				n.ended += p.Run
			}
		}
	}
	n.OfPods += n.ended
	n.system = max(0, n.Busy-n.OfPods)
}

// Running returns how many processors what goes on keeps busy: all but pods that have ended.
func (n *Node) Running() float64 { return max(0, n.Busy-n.ended) / n.Seconds }

// Stale reports whether a gauge has observed nothing for so long that its report says nothing about now.
func Stale(r *usage.Report) bool { return stale(r.AgeSeconds, r.Intervals) }

func stale(ageSeconds float64, intervals []usage.Interval) bool {
	return len(intervals) > 0 && ageSeconds > max(MaxAge.Seconds(), stalePeriods*intervals[len(intervals)-1].Seconds)
}

// byUID returns the pods of the node by the UIDs of their control groups. Those of static pods are in an annotation of the
// Pods that stand for them in the API; failing that, names tell.
func (n *Node) byUID(s *Sight) map[string]*corev1.Pod {
	names := make(map[types.NamespacedName]*corev1.Pod, len(n.All))
	known := make(map[string]*corev1.Pod, len(n.All))
	for _, pod := range n.All {
		names[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = pod
		known[string(pod.UID)] = pod
		if hash := pod.Annotations[corev1.MirrorPodAnnotationKey]; hash != "" {
			known[hash] = pod
		}
	}
	last := &s.Intervals[len(s.Intervals)-1]
	for i := range last.Pods {
		seen := &last.Pods[i]
		if known[seen.UID] == nil && seen.Name != "" {
			if pod := names[types.NamespacedName{Namespace: seen.Namespace, Name: seen.Name}]; pod != nil && pod.Annotations[corev1.MirrorPodAnnotationKey] != "" {
				known[seen.UID] = pod
			}
		}
	}
	return known
}

const (
	// threadsAnywhere is how many threads of a pod the model takes on any node, and threadsPerCPU how many for each processor of a
	// node, if that is more.
	threadsAnywhere = 64
	threadsPerCPU   = 2
)

// maxThreads returns the largest number of threads of a pod that the model takes. The model takes longer the more threads
// there are, and a gauge may lie about these as about the processors, of which there are no more than the API server says.
func (n *Node) maxThreads() int {
	cpus := min(int64(n.CPUs), n.Object.Status.Capacity.Cpu().Value(), loading.MaxServers)
	return int(min(max(threadsAnywhere, threadsPerCPU*cpus), loading.MaxThreads))
}

// vector is what the model takes an observation for: what it cannot see through, disks, is part of the time alone. A pod of
// more than the largest number of threads becomes one of that number that asks as much in all, as far as these can.
func (o *Observation) vector(maxThreads int) loading.Vector {
	threads := max(1, math.Round(o.Threads))
	cpu := min(1, o.CPU)
	if largest := float64(maxThreads); threads > largest {
		threads, cpu = largest, min(1, cpu*threads/largest)
	}
	return loading.Vector{{Loading: cpu, Pressure: cpu, Threads: int(threads), Burst: o.Burst}}
}

// newModel makes the node of the model.
func (n *Node) newModel(weights cgroup.Options) {
	if n.Problem != "" {
		return
	}
	switch n.cgroup {
	case 1:
		weights.Pods, weights.Containers = cgroup.None, cgroup.None
	case 2:
		weights.Pods = cgroup.Linear
		weights.Containers, _ = cgroup.Detect(n.Object)
	}
	weights.StaticCPUs = weights.StaticCPUs || n.exclusive
	n.Model = &node.Node{
		Name: n.Name, Servers: []int{min(n.CPUs, loading.MaxServers)}, Weights: weights,
		System: node.System{Allocatable: n.Object.Status.Allocatable.Cpu().MilliValue()},
	}
	maxThreads := n.maxThreads()
	for _, r := range n.Pods {
		// One that has processors for itself keeps others from them, also while it does nothing.
		if r.CPU >= negligible || weights.StaticCPUs && cgroup.Exclusive(r.Object) > 0 {
			r.Index = len(n.Model.Pods)
			n.Model.Pods = append(n.Model.Pods, node.Pod{Pod: r.Object, Vector: r.vector(maxThreads)})
		}
	}
	if busy := min(n.system/n.Seconds, float64(maxThreads)); busy >= negligible {
		threads := math.Ceil(busy)
		n.Model.System.Vector = loading.Vector{{Loading: busy / threads, Pressure: busy / threads, Threads: int(threads)}}
	}
}

// SolveAll solves the models of nodes, several at once.
func (c *Cluster) SolveAll() {
	c.solve(func(*Node) bool { return true })
}

// SolveSlowed solves the models of the nodes on which a pod is slowed down.
func (c *Cluster) SolveSlowed() {
	c.solve(func(n *Node) bool {
		return slices.ContainsFunc(n.Pods, func(p *Pod) bool { return p.Dilation >= n.Slowed })
	})
}

// solve solves the models of some nodes.
func (c *Cluster) solve(some func(*Node) bool) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, n := range c.Nodes {
		if !some(n) {
			continue
		}
		group.Go(func() error {
			n.solve()
			return nil
		})
	}
	_ = group.Wait() // no error
}

const (
	// dense is the largest number of pods on a node that is solved even if none of them is slowed down: the time that it takes
	// grows with the square of their number.
	dense = 40
	// Slowed is the smallest dilation of a pod that counts as slowed down, unless findings begin at a lower one.
	slowed = 1.05
)

// solve solves the model of the node. A node that has no solution, such as one with a pod that no kubelet would run, counts
// as not observed.
func (n *Node) solve() {
	if n.Problem != "" || len(n.Model.Pods) > dense && !slices.ContainsFunc(n.Pods, func(r *Pod) bool { return r.Dilation >= n.Slowed }) {
		return
	}
	for _, r := range n.Pods {
		if r.Dilation >= n.Slowed {
			r.findLimits()
		}
		if len(r.Limits) == 0 {
			r.shortenBursts()
		}
	}
	if _, err := n.Predict(); err != nil {
		n.Problem, n.Pods = err.Error(), nil
	}
}

// Predict returns how the pods of the node fare by the model.
func (n *Node) Predict() (*contention.Prediction, error) {
	if n.Prediction == nil {
		prediction, err := n.Model.Predict()
		if err != nil {
			return nil, err
		}
		n.Prediction = prediction
	}
	return n.Prediction, nil
}

// Name returns the namespace and the name of the pod.
func (r *Pod) Name() string { return text.QualifiedName(r.Object) }
