package findings

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// cluster holds the observations of all nodes.
type cluster struct {
	nodes       []*observedNode // by their names
	feasibility node.Feasibility
}

// observedNode is a node and what was observed there.
type observedNode struct {
	object  *corev1.Node
	name    string
	problem string // why nothing was observed, if that is so
	age     float64
	slowed  float64 // the smallest dilation of a pod that counts as slowed down

	seconds                      float64
	cpus, cgroup                 int
	otherCPUs                    []int   // that the node had for less of the time; only intervals of cpus count
	exclusive                    bool    // some pod has processors for itself
	blockedUnknown               bool    // the kernel does not account how long tasks are blocked
	busy, stolen, system, ofPods float64 // seconds
	pods                         []*resident
	all                          []*corev1.Pod // that have not ended, observed or not

	// model is the node of the model, with the pods of [resident.index], and its solution, nil until it is asked for.
	model      *node.Node
	prediction *contention.Prediction
	prices     *price.Prices
}

// resident is a pod that was observed.
type resident struct {
	*observation

	pod    *corev1.Pod
	node   *observedNode
	index  int     // of the pod in the model; −1 for one that uses next to nothing
	limits []limit // that held it back, if it is slowed down
	// takers are the nodes that would take the pod, nil until they are looked for: several others may want the pod to go.
	takers []taker
}

// negligible is the loading of a pod that neither waits nor is waited for.
const negligible = 0.002

// observeAll returns what was observed.
func observeAll(in *Input, above float64) *cluster {
	all := map[string]*observedNode{}
	for i := range in.Nodes {
		all[in.Nodes[i].Name] = &observedNode{object: &in.Nodes[i], name: in.Nodes[i].Name, problem: "there is no gauge"}
	}
	for i := range in.Pods {
		if n := all[in.Pods[i].Spec.NodeName]; n != nil && !cgroup.Ended(&in.Pods[i]) {
			n.all = append(n.all, &in.Pods[i])
		}
	}
	for i := range in.Sights {
		s := &in.Sights[i]
		n := all[s.Node]
		if n == nil {
			n = &observedNode{name: s.Node}
			all[s.Node] = n
		}
		n.see(s, above)
		n.newModel(in.Weights)
	}
	return &cluster{slices.SortedFunc(maps.Values(all), func(a, b *observedNode) int { return cmp.Compare(a.name, b.name) }), in.Feasibility}
}

// see takes what a gauge saw.
func (n *observedNode) see(s *Sight, above float64) {
	n.age, n.slowed = s.Age.Seconds(), min(slowed, above)
	switch {
	case n.object == nil:
		n.problem = "the API server does not know the node"
		return
	case s.Problem != "":
		n.problem = s.Problem
		return
	case len(s.Intervals) == 0:
		n.problem = "its gauge has not observed anything yet"
		return
	case stale(s.Age.Seconds(), s.Intervals):
		n.problem = "its gauge has stopped observing"
		return
	}
	n.problem = ""
	known := n.byUID(s)
	n.seeNode(s.Intervals[latest(s.Intervals):], known)
	seen := observe(s.Intervals, above)
	for _, uid := range slices.Sorted(maps.Keys(seen)) {
		o := seen[uid]
		if pod := known[uid]; pod != nil {
			n.pods = append(n.pods, &resident{observation: o, pod: pod, node: n, index: -1})
		}
	}
}

// seeNode takes what some intervals say of the node itself, given the pods that are known by their UIDs.
func (n *observedNode) seeNode(intervals []usage.Interval, known map[string]*corev1.Pod) {
	last := &intervals[len(intervals)-1]
	n.cgroup, n.blockedUnknown = last.CgroupVersion, last.BlockedUnknown
	n.cpus, n.otherCPUs = processors(intervals)
	for i := range intervals {
		v := &intervals[i]
		if v.CPUs != n.cpus {
			continue
		}
		n.seconds += v.Seconds
		n.busy += v.BusySeconds
		n.stolen += v.StolenSeconds
		n.exclusive = n.exclusive || v.ExclusiveCPUs
		for k := range v.Pods {
			if known[v.Pods[k].UID] != nil {
				n.ofPods += v.Pods[k].Run
			}
		}
	}
	n.system = max(0, n.busy-n.ofPods)
}

// Stale reports whether a gauge has observed nothing for so long that its report says nothing about now.
func Stale(r *usage.Report) bool { return stale(r.AgeSeconds, r.Intervals) }

func stale(ageSeconds float64, intervals []usage.Interval) bool {
	return len(intervals) > 0 && ageSeconds > max(MaxAge.Seconds(), stalePeriods*intervals[len(intervals)-1].Seconds)
}

// byUID returns the pods of the node by the UIDs of their control groups. Those of static pods are in an annotation of the
// pods that stand for them in the API; failing that, names tell.
func (n *observedNode) byUID(s *Sight) map[string]*corev1.Pod {
	names := make(map[types.NamespacedName]*corev1.Pod, len(n.all))
	known := make(map[string]*corev1.Pod, len(n.all))
	for _, pod := range n.all {
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
func (n *observedNode) maxThreads() int {
	cpus := min(int64(n.cpus), n.object.Status.Capacity.Cpu().Value(), loading.MaxServers)
	return int(min(max(threadsAnywhere, threadsPerCPU*cpus), loading.MaxThreads))
}

// vector is what the model takes an observation for: what it cannot see through, disks, is part of the time alone. A pod of
// more than the largest number of threads becomes one of that number that asks as much in all, as far as these can.
func (o *observation) vector(maxThreads int) loading.Vector {
	threads := max(1, math.Round(o.threads))
	cpu := min(1, o.cpu)
	if largest := float64(maxThreads); threads > largest {
		threads, cpu = largest, min(1, cpu*threads/largest)
	}
	return loading.Vector{{Loading: cpu, Pressure: cpu, Threads: int(threads), Burst: o.burst}}
}

// newModel makes the node of the model.
func (n *observedNode) newModel(weights cgroup.Options) {
	if n.problem != "" {
		return
	}
	switch n.cgroup {
	case 1:
		weights.Pods, weights.Containers = cgroup.None, cgroup.None
	case 2:
		weights.Pods = cgroup.Linear
		weights.Containers, _ = cgroup.Detect(n.object)
	}
	weights.StaticCPUs = weights.StaticCPUs || n.exclusive
	n.model = &node.Node{
		Name: n.name, Servers: []int{min(n.cpus, loading.MaxServers)}, Weights: weights,
		System: node.System{Allocatable: n.object.Status.Allocatable.Cpu().MilliValue()},
	}
	maxThreads := n.maxThreads()
	for _, r := range n.pods {
		// One that has processors for itself keeps others from them, also while it does nothing.
		if r.cpu >= negligible || weights.StaticCPUs && cgroup.Exclusive(r.pod) > 0 {
			r.index = len(n.model.Pods)
			n.model.Pods = append(n.model.Pods, node.Pod{Pod: r.pod, Vector: r.vector(maxThreads)})
		}
	}
	if busy := min(n.system/n.seconds, float64(maxThreads)); busy >= negligible {
		threads := math.Ceil(busy)
		n.model.System.Vector = loading.Vector{{Loading: busy / threads, Pressure: busy / threads, Threads: int(threads)}}
	}
}

// solveAll solves the models of nodes, several at once.
func (c *cluster) solveAll() {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, n := range c.nodes {
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
	// slowed is the smallest dilation of a pod that counts as slowed down, unless findings begin at a lower one.
	slowed = 1.05
)

// solve solves the model of the node. A node that has no solution, such as one with a pod that no kubelet would run, counts
// as not observed.
func (n *observedNode) solve() {
	if n.problem != "" || len(n.model.Pods) > dense && !slices.ContainsFunc(n.pods, func(r *resident) bool { return r.dilation >= n.slowed }) {
		return
	}
	for _, r := range n.pods {
		if r.dilation >= n.slowed {
			r.findLimits()
		}
		if len(r.limits) == 0 {
			r.shortenBursts()
		}
	}
	if _, err := n.predict(); err != nil {
		n.problem, n.pods = err.Error(), nil
	}
}

// predict returns how the pods of the node fare by the model.
func (n *observedNode) predict() (*contention.Prediction, error) {
	if n.prediction == nil {
		prediction, err := n.model.Predict()
		if err != nil {
			return nil, err
		}
		n.prediction = prediction
	}
	return n.prediction, nil
}

// price returns what a pod would cost on the node.
func (n *observedNode) price(pod node.Pod) float64 {
	if n.prices == nil {
		n.prices = n.model.Prices()
	}
	return n.model.Cost(n.prices, pod)
}

func (r *resident) name() string { return text.QualifiedName(r.pod) }
