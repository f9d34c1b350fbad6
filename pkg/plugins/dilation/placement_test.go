package dilation

import (
	"fmt"
	"math"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/loading"
)

// namedNodes is a cluster in which nodes are asked for by name.
type namedNodes struct {
	cluster
	byName map[string]fwk.NodeInfo
}

func (c namedNodes) NodeInfos() fwk.NodeInfoLister { return c }

func (c namedNodes) Get(name string) (fwk.NodeInfo, error) {
	n, known := c.byName[name]
	if !known {
		return nil, fmt.Errorf("there is no node %q", name)
	}
	return n, nil
}

// knows makes the nodes those of the plugin's cluster.
func (d *Dilation) knows(infos ...fwk.NodeInfo) {
	c := namedNodes{cluster{nodes: infos}, map[string]fwk.NodeInfo{}}
	for _, n := range infos {
		c.byName[n.Node().Name] = n
	}
	d.cluster = c
}

// known returns what the plugin has found of a node, with findings at their places.
func (d *Dilation) known(t testingT, node fwk.NodeInfo) nodeDetails {
	t.Helper()
	info, is := node.(*framework.NodeInfo)
	if !is {
		t.Fatalf("the node is a %T", node)
	}
	n := d.nodes.slot(info)
	if n.node == nil {
		t.Fatal("nothing is known of the node")
	}
	details := *n.nodeDetails
	details.found = slices.Clone(n.found)
	if more := n.place + 1 - len(details.found); more > 0 {
		details.found = append(details.found, make([]finding, more)...)
	}
	details.found[n.place] = n.finding
	return details
}

// assigned is a pod with the node that a placement gives it.
type assigned struct {
	pod  *corev1.Pod
	node string
}

func (a assigned) GetPod() *corev1.Pod           { return a.pod }
func (a assigned) GetPodInfo() fwk.PodInfo       { return &framework.PodInfo{Pod: a.pod} }
func (a assigned) GetNodeName() string           { return a.node }
func (a assigned) GetCycleState() fwk.CycleState { return framework.NewCycleState() }

// member is a pod that a kubelet would run.
func member(name, app string) *corev1.Pod {
	p := testPod(name, app)
	p.Spec.Containers = []corev1.Container{{Name: "main"}}
	return p
}

// groupOf is the pod group train, of which these pods have no node yet.
func groupOf(pods ...*corev1.Pod) *framework.PodGroupInfo {
	return &framework.PodGroupInfo{
		Type: fwk.PodGroupKeyType, Namespace: "default", Name: "train", PodGroup: &schedulingv1beta1.PodGroup{}, UnscheduledPods: pods,
	}
}

// composedOf is a group of groups.
func composedOf(groups ...*framework.PodGroupInfo) *framework.PodGroupInfo {
	return &framework.PodGroupInfo{
		Type: fwk.CompositePodGroupKeyType, Namespace: "default", Name: "jobs",
		CompositePodGroup: &schedulingv1alpha3.CompositePodGroup{}, Children: groups,
	}
}

// groupDilation returns the dilation of a group in the placement that gives its pods these nodes.
func groupDilation(t *testing.T, d *Dilation, group fwk.PodGroupInfo, assignments ...assigned) float64 {
	t.Helper()
	placement := &fwk.PodGroupAssignments{Placement: &fwk.Placement{Name: "rack"}}
	for _, a := range assignments {
		placement.ProposedAssignments = append(placement.ProposedAssignments, a)
	}
	score, status := d.ScorePlacement(t.Context(), framework.NewCycleState(), group, placement)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	return decodeCost(score)
}

// paperPlugin knows two jobs of the D-factor paper.
func paperPlugin(t *testing.T) *Dilation {
	t.Helper()
	return testPlugin(t, workload("filecomp", demand("cpu", 0.58), demand("disk", 0.42)), workload("std-io", demand("disk", 1)))
}

// Of two jobs, Eq. (5) of the D-factor paper is exact: each is dilated 1 + p·p' times.
func TestAGroupIsAsSlowAsItsSlowestMember(t *testing.T) {
	t.Parallel()
	d := paperPlugin(t)
	d.knows(testNode("empty", 1), testNode("other", 1), testNode("busy", 1, member("io", "std-io")))
	a, b := member("a", "filecomp"), member("b", "filecomp")
	group := groupOf(a, b)
	for _, test := range []struct {
		name  string
		nodes [2]string
		want  float64
	}{
		{"each has a node for itself", [2]string{"empty", "other"}, 1},
		{"one shares its node with another job", [2]string{"empty", "busy"}, 1.42},
		{"the members share a node", [2]string{"empty", "empty"}, 1 + 0.58*0.58 + 0.42*0.42},
	} {
		if got := groupDilation(t, d, group, assigned{a, test.nodes[0]}, assigned{b, test.nodes[1]}); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Two jobs that need the disk half of their time, and a third that needs it always: the third is slowed most, and counts if
// it is of the group.
func TestOfThePodsThatAreThereThoseOfTheGroupCount(t *testing.T) {
	t.Parallel()
	d := testPlugin(t, workload("small", demand("disk", 0.2)), workload("middle", demand("disk", 0.5)), workload("large", demand("disk", 1)))
	come := member("come", "small")
	dilation := func(of func(name, app string) *corev1.Pod) float64 {
		d.knows(testNode("node", 1, member("middle", "middle"), of("large", "large")))
		alone, composed := groupDilation(t, d, groupOf(come), assigned{come, "node"}), groupDilation(t, d, composedOf(groupOf(come)), assigned{come, "node"})
		if alone != composed {
			t.Errorf("a group composed of one group is dilated by %v, that group by %v", composed, alone)
		}
		return alone
	}
	others := dilation(member)
	members := dilation(func(name, app string) *corev1.Pod {
		p := member(name, app)
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("train")}
		return p
	})
	elsewhere := dilation(func(name, app string) *corev1.Pod {
		p := member(name, app)
		p.Namespace, p.Spec.SchedulingGroup = "another", &corev1.PodSchedulingGroup{PodGroupName: new("train")}
		p.Labels = nil
		return p
	})
	if !(members > others) || elsewhere > others {
		t.Errorf("with a member there %v, with another's pod %v, with a pod of a group of that name in another namespace %v", members, others, elsewhere)
	}
}

func TestAPlacementThatLeavesAMemberOutIsTheWorst(t *testing.T) {
	t.Parallel()
	d := paperPlugin(t)
	d.knows(testNode("empty", 1), testNode("busy", 1, member("io", "std-io")))
	a, b := member("a", "filecomp"), member("b", "filecomp")
	if got := groupDilation(t, d, groupOf(a, b), assigned{a, "empty"}); !math.IsInf(got, 1) {
		t.Errorf("got %v", got)
	}
	for _, test := range []struct {
		dilations []float64
		want      []int64
	}{
		{[]float64{1, 2, 3}, []int64{100, 50, 0}},
		{[]float64{1, math.Inf(1), 2, 3}, []int64{100, 0, 50, 1}},
		{[]float64{math.Inf(1), 1.5}, []int64{0, 100}},
		{[]float64{math.Inf(1), math.Inf(1)}, []int64{0, 0}},
		{[]float64{1.5, 1.5}, []int64{100, 100}},
	} {
		var scores []fwk.PlacementScore
		for _, dilation := range test.dilations {
			scores = append(scores, fwk.PlacementScore{Score: encodeCost(dilation)})
		}
		if status := d.PlacementScoreExtensions().NormalizePlacementScore(t.Context(), nil, groupOf(), scores); !status.IsSuccess() {
			t.Fatal(status)
		}
		var got []int64
		for _, s := range scores {
			got = append(got, s.Score)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: scores %v, want %v", test.dilations, got, test.want)
		}
	}
}

func TestANodeThatIsGoneIsAnError(t *testing.T) {
	t.Parallel()
	d := paperPlugin(t)
	d.knows()
	a := member("a", "filecomp")
	placement := &fwk.PodGroupAssignments{ProposedAssignments: []fwk.ProposedAssignment{assigned{a, "gone"}}}
	if _, status := d.ScorePlacement(t.Context(), framework.NewCycleState(), groupOf(a), placement); status.Code() != fwk.Error {
		t.Errorf("got %v", status)
	}
}

// With one server, symmetric jobs and two to a node, the dilation of each is given by Eq. (5) of the D-factor paper.
func TestTheDilationOfAnyGroupOfPairsIsThatOfThePaper(t *testing.T) {
	t.Parallel()
	fraction := rapid.Float64Range(0.01, 0.49)
	rapid.Check(t, func(r *rapid.T) {
		pairs := rapid.IntRange(1, 4).Draw(r, "pairs")
		var profiles []any
		var infos []fwk.NodeInfo
		var assignments []assigned
		var pods []*corev1.Pod
		want := 1.0
		for i := range pairs {
			var vectors [2]loading.Vector
			var pair [2]*corev1.Pod
			for k := range 2 {
				name := fmt.Sprintf("job-%d-%d", i, k)
				// Quantities have three decimals.
				cpu, disk := math.Round(fraction.Draw(r, "cpu")*1000)/1000, math.Round(fraction.Draw(r, "disk")*1000)/1000
				profiles = append(profiles, workload(name, demand("cpu", cpu), demand("disk", disk)))
				vectors[k] = loading.Vector{{Loading: cpu}, {Loading: disk}}
				pair[k] = member(name, name)
			}
			node := fmt.Sprintf("node-%d", i)
			if rapid.Bool().Draw(r, "together") {
				infos = append(infos, testNode(node, 1))
				assignments = append(assignments, assigned{pair[0], node}, assigned{pair[1], node})
				pods = append(pods, pair[:]...)
			} else {
				infos = append(infos, testNode(node, 1, pair[1]))
				assignments = append(assignments, assigned{pair[0], node})
				pods = append(pods, pair[0])
			}
			want = max(want, 1+vectors[0][0].Loading*vectors[1][0].Loading+vectors[0][1].Loading*vectors[1][1].Loading)
		}
		d := testPlugin(t, profiles...)
		d.knows(infos...)
		if got := groupDilation(t, d, groupOf(pods...), assignments...); math.Abs(got-want) > 1e-9 {
			r.Errorf("got %v, want %v", got, want)
		}
	})
}

// A placement of 64 members on 16 nodes of 30 pods each.
func BenchmarkScorePlacement(b *testing.B) {
	kinds := []string{"sort", "filecomp", "std-io"}
	d := testPlugin(b, nodeProfile(map[string]int{"disk": 4}), workload("sort", demand("cpu", 0.9), demand("disk", 0.1)),
		workload("filecomp", demand("cpu", 0.58), demand("disk", 0.42)), workload("std-io", demand("disk", 1)))
	var infos []fwk.NodeInfo
	var pods []*corev1.Pod
	placement := &fwk.PodGroupAssignments{}
	for n := range 16 {
		name := fmt.Sprintf("node-%d", n)
		var residents []*corev1.Pod
		for j := range 30 {
			residents = append(residents, member(fmt.Sprintf("%s-%d", name, j), kinds[j%len(kinds)]))
		}
		infos = append(infos, testNode(name, 16, residents...))
		for j := range 4 {
			pods = append(pods, member(fmt.Sprintf("train-%d-%d", n, j), "filecomp"))
			placement.ProposedAssignments = append(placement.ProposedAssignments, assigned{pods[len(pods)-1], name})
		}
	}
	d.knows(infos...)
	group, state := groupOf(pods...), framework.NewCycleState()
	for b.Loop() {
		if _, status := d.ScorePlacement(b.Context(), state, group, placement); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
}
