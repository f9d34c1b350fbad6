package perf

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Topic is one of the workloads of upstream's benchmark, by the name that it has there, or one of ours, OnePodPerNode and
// HostileTenant: nodes are created, then a first lot of pods, then the pods whose scheduling is measured, while other objects may come and
// go.
type Topic struct {
	Name string
	// Zones are spread over the nodes, as labels; none leaves the label out.
	Zones []string
	// Spreading is the defaultingType of PodTopologySpread: System, as kube-scheduler comes, under which no pod is batched,
	// or List, without constraints by default, under which pods may be. It is the same in all variants.
	Spreading string
	// FirstPerNode is how many pods there are for each node before the measured ones, and MeasuredPart which part of
	// -perf-pods is measured: both in upstream's proportion.
	FirstPerNode, MeasuredPart float64
	// NodesPerPod is the fewest nodes for each measured pod, above 1 where each pod takes a node of its own; 0 for any.
	NodesPerPod float64
	// First and Measured are what the pods are made of, a file of testdata each.
	First, Measured string
	// HostilePerNode is how many pods of a hostile user there are for each node, besides hostileOnOneNode on a node of their own;
	// 0 for no such user. Their profiles declare all that they may, and every second one changes that all of its pods follow.
	HostilePerNode float64
	// Churn is what comes and goes meanwhile, nil for nothing.
	Churn *Churn
}

// Churn is objects that are created while the measured pods are, each from a file of testdata. The pods among them fit no
// node.
type Churn struct {
	// Mode is create, in which each interval adds objects, or recreate, in which it deletes those of the last one.
	Mode  string
	Limit int // of objects that are there at once; 0 for none
	// IntervalMillis is the time from one creation to the next, in milliseconds.
	IntervalMillis int
	Files          []string
}

// hostileOnOneNode is how many pods of a hostile user are on one node, see testdata/hostile-pod.yaml.
const hostileOnOneNode = 250

// Topics returns all topics.
func Topics() []Topic {
	return []Topic{
		{
			Name: "SchedulingBasic", Spreading: "System", FirstPerNode: 0.2, MeasuredPart: 1,
			First: "pod.yaml", Measured: "pod.yaml",
		},
		{
			Name: "SchedulingWithMixedChurn", Spreading: "System", MeasuredPart: 1,
			First: "pod.yaml", Measured: "pod.yaml",
			Churn: &Churn{Mode: "recreate", Limit: 1, IntervalMillis: 1000, Files: []string{"churn-node.yaml", "churn-pod.yaml", "churn-service.yaml"}},
		},
		{
			Name: "Unschedulable", Spreading: "System", FirstPerNode: 0.02, MeasuredPart: 1,
			First: "pod.yaml", Measured: "pod.yaml",
			Churn: &Churn{Mode: "create", IntervalMillis: 200, Files: []string{"churn-pod.yaml"}},
		},
		{
			Name: "SchedulingPodAffinity", Zones: []string{"zone1"}, Spreading: "System", FirstPerNode: 1, MeasuredPart: 0.5,
			First: "pod-affinity.yaml", Measured: "pod-affinity.yaml",
		},
		{
			Name: "TopologySpreading", Zones: []string{"zone1", "zone2", "zone3"}, Spreading: "System", FirstPerNode: 1, MeasuredPart: 0.5,
			First: "pod.yaml", Measured: "pod-spreading.yaml",
		},
		{
			Name: "OnePodPerNode", Spreading: "List", MeasuredPart: 0.4, NodesPerPod: 1.25,
			First: "pod.yaml", Measured: "pod-port.yaml",
		},
		{
			Name: "HostileTenant", Spreading: "System", FirstPerNode: 0.2, MeasuredPart: 1, HostilePerNode: 0.2,
			First: "pod.yaml", Measured: "pod.yaml",
		},
	}
}

// FindTopics returns the topics of some names, separated by commas, in their order; all for none. The error names the
// topics that there are.
func FindTopics(names string) ([]Topic, error) {
	all := Topics()
	if names == "" {
		return all, nil
	}
	var found []Topic
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(t Topic) bool { return t.Name == name })
		if i < 0 {
			var known []string
			for _, t := range all {
				known = append(known, t.Name)
			}
			return nil, fmt.Errorf("%q is not one of %s", name, strings.Join(known, ", "))
		}
		found = append(found, all[i])
	}
	return found, nil
}

// Sizes are how many nodes a topic has, but for the one that a hostile user fills, how many pods there are before the measured
// ones, of a hostile user and of others, and how many are measured, at least 1.
type Sizes struct {
	Nodes, HostilePods, FirstPods, Pods int
}

// Sizes returns the sizes of the topic for -perf-nodes and -perf-pods. The nodes are more than asked for where the measured
// pods would not fit.
func (t *Topic) Sizes(nodes, pods int) Sizes {
	measured := max(1, int(t.MeasuredPart*float64(pods)))
	sizes := Sizes{
		Nodes:     max(nodes, int(math.Ceil(t.NodesPerPod*float64(measured)))),
		FirstPods: int(t.FirstPerNode * float64(nodes)),
		Pods:      measured,
	}
	if t.HostilePerNode > 0 {
		sizes.HostilePods = hostileOnOneNode + int(t.HostilePerNode*float64(nodes))
	}
	return sizes
}

// Batches reports whether pods of the topic can be placed by the scores of the pod before them.
func (t *Topic) Batches() bool { return t.Spreading == "List" }
