package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
)

// fataler is a test, a benchmark, or a test of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// worker returns a node of some processors.
func worker(name string, cpus int) corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(cpus), resource.DecimalSI), corev1.ResourcePods: resource.MustParse("110")}
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}, Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts},
	}
}

// workload is a pod of a Deployment of its name on a node, with its request in thousandths of a core and its demand.
type workload struct {
	name, node string
	request    int64
	loading    float64
	threads    int
	change     func(*corev1.Pod)
}

func (w *workload) pod() corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: w.name, UID: types.UID("uid-" + w.name), Labels: map[string]string{"app": w.name},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: w.name + "-5d4f", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: w.node, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(w.request, resource.DecimalSI)},
		}}}},
	}
	if w.change != nil {
		w.change(&p)
	}
	return p
}

// intervals is how many the gauges of test clusters have, of ten seconds each.
const intervals = 6

// observedAs returns what gauges say of a cluster whose pods fare as the model of their nodes has it.
func observedAs(t fataler, nodes []corev1.Node, workloads []workload) *observed.Input {
	t.Helper()
	in := &observed.Input{Nodes: nodes}
	for i := range workloads {
		in.Pods = append(in.Pods, workloads[i].pod())
	}
	for k := range nodes {
		n := &nodes[k]
		cpus := int(n.Status.Capacity.Cpu().Value())
		model := &node.Node{Name: n.Name, Servers: []int{cpus}}
		var some []*workload
		for i := range workloads {
			if w := &workloads[i]; w.node == n.Name {
				some = append(some, w)
				model.Pods = append(model.Pods, node.Pod{Pod: &in.Pods[i], Vector: loading.Vector{{Loading: w.loading, Pressure: w.loading, Threads: w.threads}}})
			}
		}
		prediction, err := model.Predict()
		if err != nil {
			t.Fatal(err)
		}
		v := usage.Interval{Node: n.Name, Seconds: 10, CPUs: cpus}
		for i, w := range some {
			itself, err := observed.WaitsForItself(model, i)
			if err != nil {
				t.Fatal(err)
			}
			dilation := 1 + itself + (1+itself)*prediction.Delay(i, 0)
			v.Pods = append(v.Pods, seen(w, dilation))
			v.BusySeconds += v.Pods[i].Run
		}
		s := observed.Sight{Node: n.Name, Age: 3 * time.Second}
		for range intervals {
			s.Intervals = append(s.Intervals, v)
		}
		in.Sights = append(in.Sights, s)
	}
	return in
}

// seen is a pod as a gauge sees it for ten seconds in which it is dilated.
func seen(w *workload, dilation float64) usage.Pod {
	const seconds = 10
	threads := float64(max(1, w.threads))
	return usage.Pod{
		UID: "uid-" + w.name, Namespace: "shop", Name: w.name, Seconds: seconds, Tasks: max(1, w.threads), Threads: threads, Dilation: dilation, CPULoading: w.loading,
		Times: usage.Times{Run: seconds * threads * w.loading / dilation, Wait: seconds * threads * (1 - 1/dilation)},
	}
}

// looked returns a cluster that was observed and solved, and what the scheduler would say of it.
func looked(t fataler, in *observed.Input, above float64) (*observed.Cluster, *feasibility.Filter) {
	t.Helper()
	filter, err := feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods})
	if err != nil {
		t.Fatal(err)
	}
	c := observed.Observe(in, above)
	c.SolveAll()
	return c, filter
}

// drawCluster draws a cluster of 2 to 6 nodes and at most 20 pods.
func drawCluster(rng *rand.Rand) ([]corev1.Node, []workload) {
	pick := func(of ...float64) float64 { return of[rng.IntN(len(of))] }
	var nodes []corev1.Node
	free := map[string]int64{}
	for n := range 2 + rng.IntN(5) {
		cpus := int(pick(1, 1, 2, 4))
		nodes = append(nodes, worker(fmt.Sprintf("worker-%d", n+1), cpus))
		free[nodes[n].Name] = int64(cpus) * 1000
	}
	var all []workload
	for k := range 3 + rng.IntN(18) {
		w := workload{
			name: fmt.Sprintf("pod-%02d", k+1), node: nodes[rng.IntN(len(nodes))].Name, request: int64(pick(10, 50, 100, 200, 500, 1000)),
			loading: pick(0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1), threads: int(pick(1, 1, 1, 2)),
		}
		if free[w.node] >= w.request {
			free[w.node] -= w.request
			all = append(all, w)
		}
	}
	return nodes, all
}

func planOf(t *testing.T, in *observed.Input, o Options) *Plan {
	t.Helper()
	if o.Above == 0 {
		o.Above = observed.DefaultAbove
	}
	c, filter := looked(t, in, o.Above)
	o.Feasibility = filter
	p, err := Make(c, &o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func intstrOf(n int) intstr.IntOrString { return intstr.FromInt32(int32(n)) }
