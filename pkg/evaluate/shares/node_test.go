package shares

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/evaluate/prediction"
	"loadline.dev/loadline/test/given"
)

// requesting is a pod whose containers request some CPU, "" for none.
func requesting(name string, requests ...string) corev1.Pod {
	p := corev1.Pod{}
	p.Namespace, p.Name = "shop", name
	for i, request := range requests {
		c := corev1.Container{Name: string(rune('a' + i))}
		if request != "" {
			c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	return p
}

// worker has two cores.
func worker() NodeInput {
	return NodeInput{
		Node: "worker", Cores: 2, Pods: []corev1.Pod{requesting("cart", "250m"), requesting("orders", "500m", "100m"), requesting("report", "")},
		Usage: map[cgroup.Container]float64{
			{Namespace: "shop", Pod: "cart", Name: "a"}: 0.4, {Namespace: "shop", Pod: "orders", Name: "a"}: 0.3, {Namespace: "shop", Pod: "report", Name: "a"}: 0.7,
		},
	}
}

// requested returns the requests of the nodes, or those before the changes.
func requested(a *NodeAnswer, before bool) []int64 {
	var all []int64
	for _, n := range a.Nodes {
		if before {
			all = append(all, *n.RequestMilliCPUBefore)
		} else {
			all = append(all, *n.RequestMilliCPU)
		}
	}
	return all
}

func TestTheSharesOfANodeGiveResponses(t *testing.T) {
	t.Parallel()
	a, err := OfNode(t.Context(), worker())
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	work := 0.0
	for _, n := range a.Nodes {
		paths = append(paths, n.Path)
		if n.Workload {
			work += n.Utilization * *n.Factor
		}
	}
	want := []string{"burstable", "burstable/shop/cart", "burstable/shop/orders", "burstable/shop/orders/a", "burstable/shop/orders/b", "besteffort", "besteffort/shop/report"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("unexpected nodes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{850, 250, 600, 500, 100, 0, 0}, requested(a, false)); diff != "" {
		t.Errorf("unexpected requests (-want +got):\n%s", diff)
	}
	// All jobs together are those of an M/M/2 queue at ρ = 0.7: 2ρ/(1 − ρ²).
	if jobs := 1.4 / (1 - 0.49); math.Abs(work-jobs) > 1e-8 {
		t.Errorf("there are %v jobs, not %v", work, jobs)
	}
	// The pod's factor is that of its busy container: the other one is idle.
	if pod, busy := a.Nodes[2], a.Nodes[3]; pod.Workload || *pod.Factor != *busy.Factor || a.Unmeasured != 1 || a.Weights != "linear" {
		t.Errorf("unexpected answer: %+v", a)
	}
	if cart, report := a.Nodes[1], a.Nodes[6]; *cart.Factor >= *report.Factor {
		t.Errorf("the pod with requests has %v, the one without %v", *cart.Factor, *report.Factor)
	}
}

func TestAnotherRequestMovesAPodAndShowsWhatWasBefore(t *testing.T) {
	t.Parallel()
	in := worker()
	before, err := OfNode(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	in.Requests = []RequestChange{{Pod: "report", CPU: resource.MustParse("1")}, {Pod: "shop/orders", Container: "b", CPU: resource.MustParse("300m")}}
	after, err := OfNode(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{2050, 250, 800, 500, 300, 1000}, requested(after, false)); diff != "" {
		t.Errorf("unexpected requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{850, 250, 600, 500, 100, 0}, requested(after, true)); diff != "" {
		t.Errorf("unexpected requests before (-want +got):\n%s", diff)
	}
	report := after.Nodes[5]
	if report.Path != "burstable/shop/report" || *report.FactorBefore != *before.Nodes[6].Factor || *report.Factor >= *report.FactorBefore || *report.ShareBefore != 1 {
		t.Errorf("unexpected pod: %+v", report)
	}
	if pod := after.Nodes[2]; pod.FactorBefore == nil || *pod.FactorBefore != *before.Nodes[2].Factor {
		t.Errorf("unexpected pod: %+v", pod)
	}
	if in.Pods[2].Spec.Containers[0].Resources.Requests != nil {
		t.Error("the pods of the input were changed")
	}
}

func TestAnIdlePodOfSeveralContainersHasTheirPlainMean(t *testing.T) {
	t.Parallel()
	in := worker()
	delete(in.Usage, cgroup.Container{Namespace: "shop", Pod: "orders", Name: "a"})
	a, err := OfNode(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if want := (*a.Nodes[3].Factor + *a.Nodes[4].Factor) / 2; math.Abs(*a.Nodes[2].Factor-want) > 1e-12 {
		t.Errorf("the factor of the pod is %v, want %v", *a.Nodes[2].Factor, want)
	}
}

func TestNodesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(*NodeInput)
		want string
	}{
		"no cores":          {func(in *NodeInput) { in.Cores = 0 }, "cores: 0 is not between 1 and 4096"},
		"no pods":           {func(in *NodeInput) { in.Pods = nil }, "pods: there is none that runs on the node"},
		"too few cores":     {func(in *NodeInput) { in.Cores = 1 }, "the workloads keep 1.4 processors busy, and there are 1"},
		"an unknown method": {func(in *NodeInput) { in.Options.Method = "magic" }, `method: "magic" is not one of`},
		"an unknown pod":    {func(in *NodeInput) { in.Requests = []RequestChange{{Pod: "it"}} }, "it: there is no such pod on the node"},
		"which container": {
			func(in *NodeInput) { in.Requests = []RequestChange{{Pod: "shop/orders"}} },
			"shop/orders: which container? It runs a, b: write shop/orders/a",
		},
		"which pod": {
			func(in *NodeInput) {
				other := requesting("cart", "1")
				other.Namespace = "test"
				in.Pods, in.Requests = append(in.Pods, other), []RequestChange{{Pod: "cart"}}
			},
			"cart: there are several such pods: write test/cart or shop/cart",
		},
		"a negative request": {
			func(in *NodeInput) { in.Requests = []RequestChange{{Pod: "cart", CPU: resource.MustParse("-1")}} },
			"cart: a request of -1 is negative",
		},
	} {
		in := worker()
		test.edit(&in)
		if a, err := OfNode(t.Context(), in); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the answer is %+v, the error %v, want %s", name, a, err, test.want)
		}
	}
}

// Pods with cores of their own leave a smaller node to the others.
func TestPodsWithCoresOfTheirOwnAreNotInTheTree(t *testing.T) {
	t.Parallel()
	whole := requesting("db", "1")
	whole.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	in := worker()
	want, err := OfNode(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	in.Pods, in.Cores, in.Weights.StaticCPUs = append(in.Pods, whole), 3, true
	got, err := OfNode(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Nodes, got.Nodes); diff != "" || got.Processors != 2 {
		t.Errorf("%d processors (-want +got):\n%s", got.Processors, diff)
	}
	if diff := cmp.Diff([]ExclusivePod{{"shop/db", 1}}, got.Exclusive); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for want, change := range map[string]func(*NodeInput){
		"cores: pods have 1 for themselves, of 1: none is left for the others": func(in *NodeInput) { in.Cores = 1 },
		"pods: all have cores of their own: none shares the others":            func(in *NodeInput) { in.Pods = in.Pods[3:] },
	} {
		bad := in
		change(&bad)
		if _, err := OfNode(t.Context(), bad); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Pods that never rest take of a core what the tree gives them while all want it: their dilation, by the model that
// predicts, is one over that.
func TestThePortionsOfANodeAreThoseOfThePrediction(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]cgroup.Options{"cgroup v2": {}, "cgroup v1": {Pods: cgroup.None, Containers: cgroup.None}} {
		in := NodeInput{
			Node: "worker", Cores: 1, Weights: options, Usage: map[cgroup.Container]float64{},
			Pods: []corev1.Pod{requesting("small", "100m"), requesting("large", "700m"), requesting("two", "100m", "150m"), requesting("none", ""), requesting("nothing", "")},
		}
		a, err := OfNode(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		profile := given.Workload("busy", 0, given.CPU("1"))
		profile.Spec.Selector = &metav1.LabelSelector{}
		p := prediction.Input{Cores: 1, Weights: options, Profiles: []v1alpha1.WorkloadProfile{profile}}
		for i := range in.Pods {
			in.Pods[i].Namespace = profile.Namespace
			p.Workloads = append(p.Workloads, manifest.Workload{Kind: "Pod", Pod: in.Pods[i], Replicas: new(int32(1))})
		}
		prediction, err := prediction.Predict(p)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i := range prediction.Pods {
			_, pod, _ := strings.Cut(prediction.Pods[i].Name, "/")
			for _, n := range a.Nodes {
				if n.Name != "shop/"+pod {
					continue
				}
				found++
				// No pod is ever idle, so both are the same weights; the solution of the chain settles to 3e-5.
				if dilation := prediction.Pods[i].Dilation; math.Abs(dilation*n.Portion-1) > 1e-3 {
					t.Errorf("%s: %s is dilated by %v, and has %v of the core", name, pod, dilation, n.Portion)
				}
			}
		}
		if found != len(in.Pods) {
			t.Errorf("%s: %d pods are in both answers", name, found)
		}
	}
}
