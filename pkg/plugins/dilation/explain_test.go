package dilation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/node"
)

// guardedCluster is a cluster that is made up: nodes with pods, the profiles that these follow, namespaces of several modes,
// and a pod that waits for a node. Every node has room for it.
type guardedCluster struct {
	mode       configv1alpha1.GuardMode // where namespaces do not say
	hold       float64                  // dilation above which pods are held, 0 for none
	limits     config.Limits
	namespaces []corev1.Namespace
	class      *v1alpha1.NodeProfile
	workloads  []*v1alpha1.WorkloadProfile
	nodes      []fwk.NodeInfo
	pods       []corev1.Pod // of the nodes, and last the one that waits
}

func randomGuardedCluster(random *rand.Rand) *guardedCluster {
	modes := []configv1alpha1.GuardMode{configv1alpha1.GuardOff, configv1alpha1.GuardWarn, configv1alpha1.GuardEnforce, configv1alpha1.GuardEnforce}
	c := &guardedCluster{mode: modes[random.IntN(len(modes))], limits: config.Limits{MinMaxDilation: 1.01 + 0.5*random.Float64(), MaxImportance: 10}}
	labels := []string{"enforce", "enforce", "enforce", "warn", "off", "bad", ""}
	for i := range 3 {
		ns := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("ns-", i)}}
		if label := labels[random.IntN(len(labels))]; label != "" {
			ns.Labels = map[string]string{v1alpha1.GuardLabel: label}
		}
		c.namespaces = append(c.namespaces, ns)
	}
	c.class = nodeProfile(map[string]int{"cpu": 1 + random.IntN(2), "disk": 1})
	c.class.Spec.Devices = gpuProfile(2, v1alpha1.SharingTimeSliced).Spec.Devices
	apps := 3 + random.IntN(4)
	for app := range apps {
		cpu, disk := 0.99*random.Float64(), random.Float64()
		p := workload(fmt.Sprint("app-", app), demand("cpu", cpu), demand("disk", disk*(1-cpu)), demand("gpu", 0.99*(1-disk)*(1-cpu)))
		p.Namespace = c.namespaces[app%3].Name
		p.Spec.Resources[0].Threads = new(int32([]int{1, 1, 1, 3}[random.IntN(4)]))
		if random.IntN(8) > 0 {
			bounded(p, 1+3*random.Float64())
		}
		c.workloads = append(c.workloads, p)
	}
	newPod := func(name string, age int) *corev1.Pod {
		app := random.IntN(apps + 1) // of the last there is no profile
		pod := requesting(testPod(name, fmt.Sprint("app-", app)), []string{"10m", "50m", "100m", "1100m"}[random.IntN(4)], "")
		pod.Namespace, pod.CreationTimestamp = c.namespaces[app%3].Name, metav1.NewTime(time.Unix(int64(age), 0))
		if random.IntN(2) == 0 {
			pod.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse("1")
		}
		return pod
	}
	for n := range 1 + random.IntN(3) {
		node := testNode(fmt.Sprint("node-", n), 100)
		node.Node().Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("100")
		var there []*corev1.Pod
		for k := range 2 + random.IntN(6) {
			pod := newPod(fmt.Sprintf("pod-%d-%d", n, k), len(c.pods))
			pod.Spec.NodeName = node.Node().Name
			there, c.pods = append(there, pod), append(c.pods, *pod)
		}
		full := testNode("", 0, there...)
		full.SetNode(node.Node())
		c.nodes = append(c.nodes, full)
	}
	c.pods = append(c.pods, *newPod("new", len(c.pods)))
	if random.IntN(2) == 0 {
		c.hold = 1 + 2*random.Float64()
	}
	return c
}

// filtered returns what the plugin says of each node, and what PostFilter says.
func (c *guardedCluster) filtered(t *testing.T) (statuses []*fwk.Status, advice string) {
	profiles := []any{c.class}
	for _, p := range c.workloads {
		profiles = append(profiles, p)
	}
	d := guarded(t, func(a *config.DilationArgs) { a.GuardMode, a.HoldMaxDilation, a.Limits = c.mode, c.hold, c.limits }, profiles...)
	for i := range c.namespaces {
		d.modes.OnAdd(&c.namespaces[i], true)
	}
	return filter(t, d, &c.pods[len(c.pods)-1], c.nodes...)
}

// explained returns what explain says of the pod that waits.
func (c *guardedCluster) explained(t *testing.T) *explanation.Answer {
	in := &explanation.Input{
		Pod: &c.pods[len(c.pods)-1], Pods: c.pods, Ranked: true, Classes: []v1alpha1.NodeProfile{*c.class},
		Requests: defaultArgs(t).Requests, GuardMode: c.mode, Namespaces: c.namespaces,
		Hold: explanation.Hold{MaxDilation: c.hold}, Limits: c.limits,
	}
	for _, n := range c.nodes {
		in.Nodes = append(in.Nodes, *n.Node())
	}
	for _, p := range c.workloads {
		in.Workloads = append(in.Workloads, *p)
	}
	var err error
	if in.Feasibility, err = feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods}); err != nil {
		t.Fatal(err)
	}
	answer, err := explanation.OfPod(in)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Explain says of nodes what the plugin does: which are refused, because of which resource and beyond which limit, which are
// too busy for now, and what would make room.
func TestExplainRefusesTheNodesThatTheGuardRefuses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 5))
	taken, refused, busy, warned, stuck, raised, lowest, beyond := 0, 0, 0, 0, 0, 0, 0, 0
	for run := range 200 / thinned {
		c := randomGuardedCluster(random)
		statuses, advice := c.filtered(t)
		answer := c.explained(t)
		said := map[string]*explanation.RankedNode{}
		for i := range answer.Nodes {
			said[answer.Nodes[i].Node] = &answer.Nodes[i]
		}
		all := true
		for i, node := range c.nodes {
			n := said[node.Node().Name]
			_, want, _ := strings.Cut(statuses[i].Message(), ", more than")
			_, got, _ := strings.Cut(n.Refused, ", more than")
			want, _, _ = strings.Cut(want, ", once") // explain names the pods that are gone
			got, _, _ = strings.Cut(got, ", once")
			_, held, _ := strings.Cut(statuses[i].Message(), "too busy for now: ")
			if got != want || n.TooBusy != held || n.DoesNotFit != "" || (n.Rank == 0) != (want+held != "") {
				t.Errorf("run %d, %s: the plugin says %q, explain %+v", run, n.Node, statuses[i].Message(), n)
			}
			switch {
			case want != "":
				refused++
				lowest += strings.Count(want, "the scheduler's lowest")
				beyond += strings.Count(want, "its CPU request covers no more")
			case held != "":
				busy++
			case len(n.Exceeded) > 0:
				warned++
				fallthrough
			default:
				taken++
				all = false
			}
		}
		if !all {
			advice = ""
		} else {
			stuck++
		}
		if strings.Contains(advice, "sla.maxDilation") {
			raised++
		}
		if got := node.RoomLine(answer.MakesRoom); got != advice {
			t.Errorf("run %d: the plugin says %q, explain %q", run, advice, got)
		}
	}
	t.Logf("%d nodes take the pod, of which %d are warned of, %d are refused, and %d too busy; %d pods wait, for %d of which a higher bound makes room; %d are refused for the lowest bound, and %d for more than a request covers", taken, warned, refused, busy, stuck, raised, lowest, beyond)
	few := taken < 100 || refused < 100 || busy < 20 || warned < 20 || stuck < 20 || raised < 5 || lowest < 10 || beyond < 10
	if few && thinned == 1 {
		t.Error("the clusters prove little")
	}
}
