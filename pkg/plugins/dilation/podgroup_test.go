package dilation

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The framework assumes the members of a group without another generation of the NodeInfo.
func TestAMemberSeesThoseThatWereAssumedInTheSameGeneration(t *testing.T) {
	t.Parallel()
	d := testPlugin(t, workload("std-io", demand("disk", 1)))
	inGroup := func(name string) *corev1.Pod {
		p := testPod(name, "std-io")
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("train")}
		return p
	}
	node := framework.NewNodeInfo()
	node.SetNode(testNode("node", 1).Node())
	infos := []fwk.NodeInfo{node}
	cost := func(pod *corev1.Pod) float64 {
		raw, _ := scores(t, d, pod, infos)
		return decodeCost(raw[0].Score)
	}
	cost(inGroup("zero")) // the second time the prices are kept
	if got := cost(inGroup("first")); got != 0 {
		t.Errorf("on an empty node: %v", got)
	}
	generation := node.Generation
	node.AddPod(inGroup("first"))
	node.Generation = generation
	// Twice p'·p̄ = 1: each makes the other wait.
	if got := cost(inGroup("second")); math.Abs(got-2) > 1e-9 {
		t.Errorf("beside the first member: %v, want 2", got)
	}
	if err := node.RemovePod(klog.Background(), inGroup("first")); err != nil {
		t.Fatal(err)
	}
	node.Generation = generation
	if got := cost(testPod("other", "std-io")); got != 0 {
		t.Errorf("once it has been forgotten: %v", got)
	}
}

// Nor do bounds go by what was kept of that generation.
func TestABoundCountsMembersThatWereAssumedInTheSameGeneration(t *testing.T) {
	t.Parallel()
	d := guarded(t, nil, bounded(workload("std-io", demand("disk", 1)), 1.5))
	inGroup := func(name string) *corev1.Pod {
		p := testPod(name, "std-io")
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("train")}
		return p
	}
	node := framework.NewNodeInfo()
	node.SetNode(testNode("node", 1).Node())
	for range 2 { // the second time the node is kept
		if statuses, _ := filter(t, d, inGroup("first"), node); !statuses[0].IsSuccess() {
			t.Errorf("an empty node: %v", statuses[0])
		}
	}
	generation := node.Generation
	node.AddPod(inGroup("first"))
	node.Generation = generation
	if statuses, _ := filter(t, d, inGroup("second"), node); statuses[0].IsSuccess() {
		t.Error("the second member may go to the first, where both would be twice as slow as alone")
	}
}
