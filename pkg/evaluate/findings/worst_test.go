package findings_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// However many pods of however many nodes are slowed down, each is either among the worst of its node or in the group of the others.
func TestEachFindingIsAmongTheWorstOrInAGroup(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := &observed.Input{}
		for n := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			name := fmt.Sprintf("worker-%d", n)
			in.Nodes = append(in.Nodes, nodeNamed(name, "1"))
			var pods []usage.Pod
			for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
				pods = append(pods, seen(fmt.Sprintf("%s-%d", name, i), 0.05, rapid.Float64Range(0, 0.8).Draw(t, "wait"), 0))
				in.Pods = append(in.Pods, pod(fmt.Sprintf("%s-%d", name, i), name, "1m", ""))
			}
			in.Sights = append(in.Sights, sight(name, 1, 0, pods...))
		}
		answer, err := findings.Find(in, &plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		perNode := rapid.IntRange(1, 4).Draw(t, "per node")
		worst, others := answer.Worst(perNode)
		excess, rows := 0.0, map[string]int{}
		for i, f := range worst {
			excess += f.Dilation - 1
			rows[f.Node]++
			if i > 0 && f.Dilation > worst[i-1].Dilation {
				t.Fatal("the worst does not come first")
			}
		}
		all := len(worst)
		for _, g := range others {
			all += g.Slowed
			excess += float64(g.Slowed) * (g.Dilation - 1)
			if g.Slowed < 2 || rows[g.Node] != perNode || g.Worst < g.Dilation-1e-9 {
				t.Fatalf("of %s %d have rows, and the others are %+v", g.Node, rows[g.Node], g)
			}
		}
		for _, f := range answer.Findings {
			excess -= f.Dilation - 1
		}
		if all != len(answer.Findings) || !(excess < 1e-6 && excess > -1e-6) {
			t.Fatalf("%d of %d, and the dilations differ by %v", all, len(answer.Findings), excess)
		}
	})
}

func TestBlockedTimeIsAbsentWhereItIsNotAccounted(t *testing.T) {
	t.Parallel()
	s := sight("worker-1", 1, 0, seen("a", 0.5, 0, 0))
	in := &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("a", "worker-1", "1m", "")}, Sights: []observed.Sight{s}}
	if a := of(t, in); a.Pods[0].Blocked == nil || *a.Pods[0].Blocked != 0 || a.Nodes[0].BlockedUnknown {
		t.Errorf("of a gauge that does not say: %+v, %+v", a.Pods, a.Nodes)
	}
	s.Intervals[5].BlockedUnknown = true
	if a := of(t, in); a.Pods[0].Blocked != nil || !a.Nodes[0].BlockedUnknown {
		t.Errorf("where it is not accounted: %+v, %+v", a.Pods, a.Nodes)
	}
	s.Intervals[5].BlockedUnknown = false
	s.Intervals[5].Pods[0].BlockedBy = usage.ByNothing
	if a := of(t, in); a.Pods[0].Blocked != nil || a.Nodes[0].BlockedUnknown {
		t.Errorf("where it is accounted of other pods: %+v, %+v", a.Pods, a.Nodes)
	}
}
