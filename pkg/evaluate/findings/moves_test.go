package findings_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/node"
)

// crowded is a node with two pods in each other's way beside one with two that do next to nothing, all as changed.
func crowded(change func(crowding bool, p *corev1.Pod)) *observed.Input {
	in := &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1"), nodeNamed("worker-2", "1")},
		Pods:  []corev1.Pod{pod("a", "worker-1", "200m", ""), pod("b", "worker-1", "200m", ""), pod("c", "worker-2", "200m", ""), pod("d", "worker-2", "200m", "")},
		Sights: []observed.Sight{
			sight("worker-1", 1, 0, seen("a", 1, 0.5, 0), seen("b", 1, 0.5, 0)), sight("worker-2", 1, 0, seen("c", 0.01, 0, 0)),
		},
	}
	for i := range in.Nodes {
		in.Nodes[i].Labels = map[string]string{corev1.LabelHostname: in.Nodes[i].Name}
	}
	for i := range in.Pods {
		in.Pods[i].Labels = map[string]string{"tier": "web"}
		change(in.Pods[i].Spec.NodeName == "worker-1", &in.Pods[i])
	}
	return in
}

func TestAPodMovesOnlyWhereTheSchedulerLetsIt(t *testing.T) {
	t.Parallel()
	tier := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "web"}}
	ports := func(network bool) func(bool, *corev1.Pod) {
		return func(_ bool, p *corev1.Pod) {
			p.Spec.HostNetwork = network
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		}
	}
	for name, test := range map[string]struct {
		change func(crowding bool, p *corev1.Pod)
		moves  bool
	}{
		"a plain pod":             {func(bool, *corev1.Pod) {}, true},
		"past a host port":        {ports(false), false},
		"past a port of the host": {ports(true), false},
		"past anti-affinity": {func(crowding bool, p *corev1.Pod) {
			if crowding {
				p.Labels = nil
				p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: tier, TopologyKey: corev1.LabelHostname}},
				}}
			}
		}, false},
		"past a hard spread": {func(_ bool, p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: tier,
			}}
		}, false},
		"of a DaemonSet": {func(_ bool, p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" }, false},
		"of a file of its node": {func(_ bool, p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: p.Spec.NodeName, Controller: new(true)}}
		}, false},
		"that nothing makes anew": {func(_ bool, p *corev1.Pod) { p.OwnerReferences = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := of(t, crowded(test.change)).Findings[0]
			if moves := f.Remedy.Action != findings.Leave; f.Pod.Pod != "shop/a" || moves != test.moves || f.Remedy.Problem != "" {
				t.Errorf("%s: %+v", f.Pod.Pod, f.Remedy)
			}
		})
	}
}

// What is not known of a move is said where the move would be the remedy, and the move is not proposed.
func TestAMoveOfWhichTooLittleIsKnownIsNotPromised(t *testing.T) {
	t.Parallel()
	claims := func(_ bool, p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	}
	f := of(t, crowded(claims)).Findings[0]
	const want = "whether shop/a may move to worker-2: PersistentVolumeClaim shop/data is not known"
	if f.Remedy.Action != findings.Leave || f.Remedy.Problem != want || f.Remedy.Dilation != f.Dilation {
		t.Errorf("got %+v, want %q", f.Remedy, want)
	}
	useless := crowded(claims)
	useless.Sights[1] = sight("worker-2", 1, 0, seen("c", 1, 0, 0))
	if f := of(t, useless).Findings[0]; f.Remedy.Action != findings.Leave || f.Remedy.Problem != "" {
		t.Errorf("where a move would not help: %+v", f.Remedy)
	}
}

// counted counts the pods that the scheduler is asked about, and the nodes.
type counted struct{ pods, nodes int }

func (c *counted) Of(*corev1.Pod) func(string) node.Fit {
	c.pods++
	return func(string) node.Fit {
		c.nodes++
		return node.Fit{}
	}
}

func (c *counted) With(*corev1.Pod, string) node.Feasibility { return c }

// In a large cluster the scheduler is asked about a pod once for each step and exchange, however many wait for it, and about the cheapest
// nodes only.
func TestTheSchedulerIsAskedNoMoreThanItTakes(t *testing.T) {
	t.Parallel()
	asks := &counted{}
	in := &observed.Input{}
	for n := range 50 {
		in.Nodes = append(in.Nodes, nodeNamed(workerName(n), "1"))
		in.Sights = append(in.Sights, sight(workerName(n), 1, 0))
	}
	in.Pods = []corev1.Pod{pod("hog", workerName(0), "500m", "")}
	all := []usage.Pod{seen("hog", 1, 0.1, 0)}
	for k := range 5 {
		name := "small-" + string(rune('a'+k))
		in.Pods = append(in.Pods, pod(name, workerName(0), "50m", ""))
		all = append(all, seen(name, 0.2, 0.7, 0))
	}
	in.Sights[0] = sight(workerName(0), 1, 0, all...)
	answer, err := findings.Find(in, &plan.Options{Feasibility: asks})
	if err != nil || len(answer.Findings) < 5 {
		t.Fatalf("%d findings, %v", len(answer.Findings), err)
	}
	if n := len(answer.Plan.Steps) + 1; asks.pods > len(in.Pods)*n*n || asks.nodes > 3*asks.pods {
		t.Errorf("it is asked about %d pods and %d nodes in all", asks.pods, asks.nodes)
	}
}

func workerName(n int) string { return "worker-" + string(rune('A'+n)) }
