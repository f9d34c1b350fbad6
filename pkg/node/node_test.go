package node_test

import (
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
)

func pod(name, request string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	if request != "" {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
	}
	return p
}

func vector(fraction float64) loading.Vector {
	return loading.Vector{{Loading: fraction, Pressure: fraction, Threads: 1}}
}

// one is a node of one core with pods that always run.
func one(requests ...string) *node.Node {
	n := &node.Node{Name: "worker-1", Servers: []int{1}, System: node.System{Allocatable: 1000}}
	for i, request := range requests {
		n.Pods = append(n.Pods, node.Pod{Pod: pod(string(rune('a'+i)), request), Vector: vector(1)})
	}
	return n
}

func dilations(t *testing.T, n *node.Node) []float64 {
	t.Helper()
	p, err := n.Predict()
	if err != nil {
		t.Fatal(err)
	}
	return p.Dilations
}

func TestWhatIfLeavesTheNodeAsItIs(t *testing.T) {
	t.Parallel()
	n := one("100m", "100m")
	if got := dilations(t, n.Without(0)); len(got) != 1 || got[0] != 1 {
		t.Errorf("without the other: %v", got)
	}
	if got := dilations(t, n.With(node.Pod{Pod: pod("c", "100m"), Vector: vector(1)})); len(got) != 3 || math.Abs(got[2]-3) > 1e-6 {
		t.Errorf("with a third: %v", got)
	}
	changed, err := n.WithCPU(0, resource.NewMilliQuantity(300, resource.DecimalSI), nil)
	if err != nil {
		t.Fatal(err)
	}
	// 300m and 100m are weights of 12 and 4.
	if got := dilations(t, changed); math.Abs(got[0]-4.0/3) > 0.01 || math.Abs(got[1]-4) > 0.05 {
		t.Errorf("with three times the request: %v", got)
	}
	if got := dilations(t, n); math.Abs(got[0]-2) > 1e-9 || math.Abs(got[1]-2) > 1e-9 {
		t.Errorf("afterwards: %v", got)
	}
	if _, err := n.WithCPU(0, resource.NewQuantity(2, resource.DecimalSI), resource.NewQuantity(1, resource.DecimalSI)); err == nil {
		t.Error("a request above the limit is taken")
	}
}

// What runs in no pod shares the CPU with all pods together: weights of 100 and, for one core, 39.
func TestTheSystemSlowsPods(t *testing.T) {
	t.Parallel()
	n := one("100m")
	n.System.Vector = vector(1)
	got := dilations(t, n)
	if len(got) != 2 || math.Abs(got[0]-139.0/39) > 0.05 || math.Abs(got[1]-1.39) > 0.02 {
		t.Errorf("got %v", got)
	}
}

func TestANodeThatNoKubeletRunsIsAnErrorOfItsName(t *testing.T) {
	t.Parallel()
	n := one("100m")
	n.Pods[0].Spec.Containers = nil
	if _, err := n.Predict(); err == nil || !strings.HasPrefix(err.Error(), "node worker-1: pod shop/a: ") {
		t.Errorf("got %v", err)
	}
}

func TestARequestOfWhatAPodNeeds(t *testing.T) {
	t.Parallel()
	for demand, want := range map[loading.Demand]int64{
		{Loading: 0.6}:             600,
		{Loading: 0.601}:           610,
		{Loading: 0.5, Threads: 3}: 1500,
		{}:                         0,
	} {
		if got := node.Needs(demand); got != want {
			t.Errorf("%+v: %d, want %d", demand, got, want)
		}
	}
}

func TestWhatOthersLeaveOfANode(t *testing.T) {
	t.Parallel()
	object := &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}
	if free := node.FreeCPU(object, []*corev1.Pod{pod("a", "300m"), pod("b", "")}); free.String() != "700m" {
		t.Errorf("free: %s", free.String())
	}
}
