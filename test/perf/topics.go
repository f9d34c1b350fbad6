package perf

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Topic is what a run measures: a test case of upstream's benchmark, by the name that it has there, or one of ours.
type Topic struct {
	Name string
	// Folder is where upstream has the test case, below k8s.io/kubernetes/test/integration/scheduler_perf, and Workload which of
	// its workloads is run: one of 5,000 nodes where there is one, else the largest. Both are empty for one of ours.
	Folder, Workload string
	// Light says that tens of thousands of pods come to one node, or that nodes are full, so that the pods' profile is light enough
	// for that. Other pods of upstream have one that loads a node as ordinary pods do.
	Light bool
	// Own describes a topic of ours, nil for one of upstream.
	Own *Own
}

// Own is a topic of ours: nodes are created, then a first lot of pods, then the pods whose scheduling is measured. The pods follow
// three profiles.
type Own struct {
	// Batches says that PodTopologySpread has no default constraints, in all variants, so that pods can be placed by the scores of the
	// pod before them. With these constraints, as kube-scheduler comes, no pod is.
	Batches bool
	// FirstPerNode is how many pods there are for each node before the measured ones, and MeasuredPart which part of
	// -perf-pods is measured.
	FirstPerNode, MeasuredPart float64
	// NodesPerPod is the fewest nodes for each measured pod, above 1 where each pod takes a node of its own; 0 for any.
	NodesPerPod float64
	// First and Measured are what the pods are made of, a file of testdata each.
	First, Measured string
	// HostilePerNode is how many pods of a hostile user there are for each node, besides hostileOnOneNode on a node of their own;
	// 0 for no such user. Their profiles declare all that they may, and every second one changes that all of its pods follow.
	HostilePerNode float64
}

// hostileOnOneNode is how many pods of a hostile user are on one node, see testdata/hostile-pod.yaml.
const hostileOnOneNode = 250

// Topics returns all topics: ours, then those of upstream but for those of [NotRun], large ones first.
func Topics() []Topic {
	topics := []Topic{
		{Name: "ThreeKindsOfPods", Own: &Own{FirstPerNode: 0.2, MeasuredPart: 1, First: "pod.yaml", Measured: "pod.yaml"}},
		{Name: "OnePodPerNode", Own: &Own{Batches: true, MeasuredPart: 0.4, NodesPerPod: 1.25, First: "pod.yaml", Measured: "pod-port.yaml"}},
		{Name: "HostileTenant", Own: &Own{FirstPerNode: 0.2, MeasuredPart: 1, HostilePerNode: 0.2, First: "pod.yaml", Measured: "pod.yaml"}},
	}
	for _, f := range slices.Concat(largeTopics(), smallTopics()) {
		for _, t := range f.topics {
			t.Folder = f.name
			topics = append(topics, t)
		}
	}
	return topics
}

// folder is a folder of upstream's benchmark, and its topics.
type folder struct {
	name   string
	topics []Topic
}

// largeTopics returns upstream's test cases that have a workload of 5,000 nodes or more.
func largeTopics() []folder {
	return []folder{
		{"misc", []Topic{
			{Name: "SchedulingBasic", Workload: "5000Nodes_10000Pods"},
			{Name: "SchedulingDaemonset", Workload: "15000Nodes", Light: true},
			{Name: "SchedulingWithMixedChurn", Workload: "5000Nodes_10000Pods"},
			{Name: "SchedulingDeletedPodsWithFinalizers", Workload: "5000Node_5000DeletingPods"},
			{Name: "SchedulingWithExtendedResource", Workload: "5000pods_5000nodes_DRAExtendedResourceEnabled"},
		}},
		{"default_preemption", []Topic{
			{Name: "Unschedulable", Workload: "5kNodes/100Init/10kPods"},
			{Name: "PreemptionAsync", Workload: "5000Nodes_AsyncPreemptionEnabled"},
		}},
		{"affinity", []Topic{
			{Name: "SchedulingPodAntiAffinity", Workload: "5000Nodes_2000Pods"},
			{Name: "SchedulingPodMatchingAntiAffinity", Workload: "5000Nodes_5000Pods"},
			{Name: "SchedulingPodAffinity", Workload: "5000Nodes_5000Pods"},
			{Name: "SchedulingPreferredPodAffinity", Workload: "5000Nodes_5000Pods"},
			{Name: "SchedulingPreferredPodAntiAffinity", Workload: "5000Nodes_5000Pods"},
			{Name: "SchedulingNodeAffinity", Workload: "5000Nodes_10000Pods"},
			{Name: "MixedSchedulingBasePod", Workload: "5000Nodes_5000Pods"},
			{Name: "SchedulingRequiredPodAntiAffinityWithNSSelector", Workload: "5000Nodes_2000Pods"},
			{Name: "SchedulingPreferredAntiAffinityWithNSSelector", Workload: "5000Nodes_2000Pods"},
			{Name: "SchedulingRequiredPodAffinityWithNSSelector", Workload: "5000Nodes_2000Pods"},
			{Name: "SchedulingPreferredAffinityWithNSSelector", Workload: "5000Nodes_5000Pods"},
		}},
		{"topology_spreading", []Topic{
			{Name: "TopologySpreading", Workload: "5000Nodes_5000Pods"},
			{Name: "PreferredTopologySpreading", Workload: "5000Nodes_5000Pods"},
			{Name: "DefaultTopologySpreading", Workload: "5000Nodes_10000Pods"},
			{Name: "SchedulingWithNodeInclusionPolicy", Workload: "5000Nodes"},
		}},
		{"volumes", []Topic{
			{Name: "SchedulingSecrets", Workload: "5000Nodes_10000Pods"},
			{Name: "SchedulingInTreePVs", Workload: "5000Nodes_2000Pods"},
			{Name: "SchedulingMigratedInTreePVs", Workload: "5000Nodes_5000Pods"},
			{Name: "SchedulingCSIPVs", Workload: "5000Nodes_5000Pods"},
		}},
		{"podgroup/basicscheduling", []Topic{{Name: "BasicScheduling", Workload: "5000Nodes_3000Groups_9000Pods"}}},
		{"podgroup/gangscheduling", []Topic{{Name: "GangScheduling", Workload: "5000Nodes_3000Gangs_9000Pods"}}},
		{"podgroup/tas", []Topic{{Name: "TopologyAwareScheduling", Workload: "5000Nodes_750Gangs_3000Pods"}}},
		{"starvation", []Topic{
			{Name: "StarvationIndependent", Workload: "10000Nodes_10000Cloggers"},
			{Name: "StarvationPodGroup", Workload: "10000Nodes_10000Cloggers_Podgroup"},
		}},
		{"batching", []Topic{
			{Name: "HostPortConflict", Workload: "20000Nodes_20000Pods_100BatchSize"},
			{Name: "ResourceSaturation", Workload: "20000Nodes_20000Pods_100BatchSize"},
		}},
	}
}

// smallTopics returns upstream's test cases of which no workload has 5,000 nodes.
func smallTopics() []folder {
	return []folder{
		{"misc", []Topic{{Name: "SchedulingWhileGated", Workload: "1Node_10000GatedPods", Light: true}}},
		{"default_preemption", []Topic{
			{Name: "PreemptionBasic", Workload: "1000Nodes"},
			{Name: "PreemptionPodGroupDisruptionMode", Workload: "1000Nodes_1000Candidates_DisruptionAll"},
		}},
		{"affinity", []Topic{{Name: "SchedulingGatedPodsWithPodAffinityImpactForThroughput", Workload: "1Node_10000GatedPods", Light: true}}},
		{"volumes", []Topic{{Name: "PreemptionPVs", Workload: "1000Nodes"}}},
		{"dra", []Topic{
			{Name: "SchedulingWithResourceClaimTemplate", Workload: "5000pods_500nodes"},
			{Name: "SchedulingWithResourceClaim", Workload: "5000pods_500nodes"},
		}},
		{"dra/extendedresource", []Topic{{Name: "ExtendedResource", Workload: "Explicit_50classes_5000pods_500nodes"}}},
		{"dra/extendedresource/scoring", []Topic{{Name: "ExtendedResourceScoring", Workload: "5000pods_500nodes"}}},
		{"dra/consumablecapacity", []Topic{{Name: "ConsumableCapacity", Workload: "half_1000nodes"}}},
		{"dra/partitionabledevices", []Topic{
			{Name: "Partitionable", Workload: "half_1000nodes"},
			{Name: "PartitionableBacktracking", Workload: "half_1000nodes"},
		}},
		{"dra/compatibilitygroups", []Topic{{Name: "CompatibilityGroups", Workload: "half_1000nodes"}}},
		{"dra/listattributes", []Topic{{Name: "SchedulingWithResourceClaimTemplateListAttributes", Workload: "empty_500nodes"}}},
		{"dra/workloadresourceclaims", []Topic{
			{Name: "SharedPodGroupResourceClaim", Workload: "100podgroups_5000pods", Light: true},
			{Name: "SharedPodGroupResourceClaimTemplate", Workload: "100podgroups_5000pods", Light: true},
		}},
		{"workload_preemption", []Topic{
			{Name: "GangPreemptionBasic", Workload: "100Nodes_10PreemptorGangs_10Pods_Evicting_1000InitPods", Light: true},
			{Name: "GangPreemptionPodGroups", Workload: "100Nodes_10PreemptorGangs_10Pods_Evicting_50LowPriorityGangs", Light: true},
			{Name: "GangPreemptionAffinity", Workload: "100Nodes_10PreemptorGangs_10Pods_Evicting_1000InitPods", Light: true},
		}},
		{"event_handling", []Topic{
			{Name: "EventHandlingPodDelete", Workload: "50Nodes_500Pods", Light: true},
			{Name: "EventHandlingPodUpdate", Workload: "1Node_1000Pods", Light: true},
			{Name: "EventHandlingPodAdd", Workload: "1000Pods", Light: true},
			{Name: "EventHandlingNodeAdd", Workload: "100Nodes_1000Pods", Light: true},
			{Name: "EventHandlingNodeUpdate", Workload: "100Nodes_1000Pods", Light: true},
		}},
	}
}

// NotRun returns upstream's test cases that are not topics, with the reasons.
func NotRun() map[string]string {
	const few = "its only workload schedules ten pods on two nodes, too few to measure"
	return map[string]string{
		"NodeDeclaredFeaturesEnabled": "its nodes declare features that functions of upstream's own test package add",
		"PublishResourceSlices":       "it schedules no pod",
		"DeviceTaintToleration":       few,
		"FirstAvailable":              few,
	}
}

// FindTopics returns the topics of the given names, separated by commas; all topics if there are none. The name of one of upstream's
// folders stands for all topics of it.
func FindTopics(names string) ([]Topic, error) {
	all := Topics()
	if names == "" {
		return all, nil
	}
	var found []Topic
	for name := range strings.SplitSeq(names, ",") {
		before := len(found)
		for _, t := range all {
			if t.Name == name || t.Folder == name {
				found = append(found, t)
			}
		}
		if len(found) == before {
			var known []string
			for _, t := range all {
				known = append(known, t.Name)
			}
			return nil, fmt.Errorf("%q is not one of %s, or a folder of upstream", name, strings.Join(known, ", "))
		}
	}
	return found, nil
}

// Sizes are how many nodes a topic of ours has, but for the one that a hostile user fills, how many pods there are before the measured
// ones, of a hostile user and of others, and how many are measured, at least 1.
type Sizes struct {
	Nodes, HostilePods, FirstPods, Pods int
}

// Sizes returns the sizes of the topic for -perf-nodes and -perf-pods. The nodes are more than asked for where the measured
// pods would not fit.
func (o *Own) Sizes(nodes, pods int) Sizes {
	measured := max(1, int(o.MeasuredPart*float64(pods)))
	sizes := Sizes{
		Nodes:     max(nodes, int(math.Ceil(o.NodesPerPod*float64(measured)))),
		FirstPods: int(o.FirstPerNode * float64(nodes)),
		Pods:      measured,
	}
	if o.HostilePerNode > 0 {
		sizes.HostilePods = hostileOnOneNode + int(o.HostilePerNode*float64(nodes))
	}
	return sizes
}
