package dilation

import (
	"context"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// Where kube-scheduler places pod groups as a whole (feature gate
// TopologyAwareWorkloadScheduling), it tries each topology domain, such as a rack,
// and asks plugins which of these placements is best. Elsewhere it never calls what
// is in this file.
var (
	_ fwk.PlacementScorePlugin     = &Dilation{}
	_ fwk.PlacementScoreExtensions = &Dilation{}
)

// PlacementScoreExtensions returns the plugin itself, for NormalizePlacementScore.
func (d *Dilation) PlacementScoreExtensions() fwk.PlacementScoreExtensions { return d }

// ScorePlacement returns the dilation of a pod group in a placement, encoded so
// that dilations keep their order: that of its slowest member, since a group is
// done when all of its members are. Members that share a node slow each other, too.
// A member that would find no node makes the dilation infinite.
//
// The members on a node are those that the placement puts there, and those of the
// group that are there already. Pods that would be preempted still count.
func (d *Dilation) ScorePlacement(_ context.Context, _ fwk.PlacementCycleState, group fwk.PodGroupInfo, placement *fwk.PodGroupAssignments) (int64, *fwk.Status) {
	if len(placement.ProposedAssignments) < len(group.GetUnscheduledPods()) {
		return encodeCost(math.Inf(1)), nil
	}
	members := map[string][]*corev1.Pod{} // by node
	for _, a := range placement.ProposedAssignments {
		members[a.GetNodeName()] = append(members[a.GetNodeName()], a.GetPod())
	}
	snapshot := d.index.Snapshot()
	slowest := 1.0
	for name, come := range members {
		node, err := d.cluster.NodeInfos().Get(name)
		if err != nil {
			return 0, fwk.AsStatus(err)
		}
		slowest = max(slowest, slowestMember(snapshot, group, node, come))
	}
	return encodeCost(slowest), nil
}

// slowestMember returns the largest dilation of the members of a group on a node
// once some of them have come; a bound from above on it where too much runs there.
func slowestMember(snapshot *profile.Snapshot, group fwk.PodGroupInfo, info fwk.NodeInfo, come []*corev1.Pod) float64 {
	pods := podsOf(info)
	others := len(pods)
	pods = append(pods, come...)
	with := node.Of(snapshot, info.Node(), snapshot.NodeClass(info.Node()), pods)
	o := with.Outlook(node.Granted)
	slowest := 1.0
	for j, pod := range pods {
		if j >= others || isMember(pod, group) {
			slowest = max(slowest, o.Dilations[j])
		}
	}
	return slowest
}

// isMember reports whether a pod belongs to a group, or to one of those that a group is composed of.
func isMember(pod *corev1.Pod, group fwk.PodGroupInfo) bool {
	if group.GetType() == fwk.CompositePodGroupKeyType {
		return slices.ContainsFunc(group.GetChildren(), func(child fwk.PodGroupInfo) bool { return isMember(pod, child) })
	}
	return podGroup(pod) == group.GetName() && pod.Namespace == group.GetNamespace()
}

// NormalizePlacementScore maps dilations to scores as NormalizeScore maps costs. A
// placement in which a member finds no node gets the lowest score, which no other
// one gets.
func (*Dilation) NormalizePlacementScore(_ context.Context, _ fwk.PodGroupCycleState, _ fwk.PodGroupInfo, scores []fwk.PlacementScore) *fwk.Status {
	var complete []*int64
	for i := range scores {
		if score := &scores[i].Score; math.IsInf(decodeCost(*score), 1) {
			*score = fwk.MinScore
		} else {
			complete = append(complete, score)
		}
	}
	normalize(len(complete), func(i int) *int64 { return complete[i] })
	if len(complete) < len(scores) {
		for _, score := range complete {
			*score = max(*score, fwk.MinScore+1)
		}
	}
	return nil
}
