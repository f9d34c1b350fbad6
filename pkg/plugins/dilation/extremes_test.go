package dilation

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/test/extremes"
	"loadline.dev/loadline/test/manifests"
)

// worst is what an extension point took at most, and of what object.
type worst struct {
	took  time.Duration
	bytes uint64
	name  string
}

// measure notes what an extension point takes.
func measure(at map[string]*worst, point, name string, call func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	call()
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	if w := at[point]; w == nil || took > w.took {
		at[point] = &worst{took: took, name: name, bytes: max(after.TotalAlloc-before.TotalAlloc, bytesOf(w))}
	}
}

func bytesOf(w *worst) uint64 {
	if w == nil {
		return 0
	}
	return w.bytes
}

// example returns an object of a kind that has every field.
func example(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o["kind"] == kind {
			return &unstructured.Unstructured{Object: o}
		}
	}
	t.Fatalf("there is no %s among the objects", kind)
	return nil
}

// into converts an object.
func into[T any](t *testing.T, o *unstructured.Unstructured) *T {
	t.Helper()
	typed := new(T)
	if err := kruntime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
		t.Fatal(err)
	}
	return typed
}

// Whatever a profile of a workload or of nodes says, alone and in pairs of fields, a node full of its pods is priced at a cost that
// is bounded (what Filter may take is bounded by the cycle's budget). The figures are logged; what is asserted is memory, which does
// not depend on how busy the machine is.
func TestNoProfileMakesANodeExpensive(t *testing.T) {
	const most = 4 << 20 // bytes
	at := map[string]*worst{}
	try := func(name string, w *v1alpha1.WorkloadProfile, n *v1alpha1.NodeProfile) {
		w.Namespace, w.Spec.Selector.MatchLabels = "default", map[string]string{"app": "fat"}
		w.Spec.Selector.MatchExpressions = nil
		n.Spec.Selector.MatchLabels, n.Spec.Selector.MatchExpressions = nil, nil
		d := guarded(t, nil, w, n)
		var pods []*corev1.Pod
		for k := range 250 {
			pods = append(pods, requesting(testPod(fmt.Sprint("fat-", k), "fat"), fmt.Sprintf("%dm", 1+k), ""))
		}
		node := testNode("node", 64, pods...)
		d.knows(node)
		pod := requesting(testPod("new", "fat"), "1m", "")
		state := framework.NewCycleState()
		measure(at, "PreFilter", name, func() { d.PreFilter(t.Context(), state, pod, nil) })
		measure(at, "PreScore", name, func() { d.PreScore(t.Context(), state, pod, []fwk.NodeInfo{node}) })
		c, err := cycleOf(state)
		if err != nil {
			t.Fatal(err)
		}
		r := newResidents(d.modes, d.kinds, c, node, nil)
		var prices *price.Prices
		measure(at, "price", name, func() { prices = r.price(t.Context()) })
		measure(at, "Score", name, func() {
			for range 100 {
				prices.Of(c.pod.On(r.class))
			}
		})
	}
	workload, nodeProfile := example(t, "WorkloadProfile"), example(t, "NodeProfile")
	each := func(kind string, object *unstructured.Unstructured, try func(string, *unstructured.Unstructured)) {
		k, err := extremes.Of(kind)
		if err != nil {
			t.Fatal(err)
		}
		k.Each(t, object, try)
		k.Pairs(t, object, 60, try)
	}
	each("WorkloadProfile", workload, func(name string, o *unstructured.Unstructured) {
		try(name, into[v1alpha1.WorkloadProfile](t, o), into[v1alpha1.NodeProfile](t, nodeProfile))
	})
	each("NodeProfile", nodeProfile, func(name string, o *unstructured.Unstructured) {
		try(name, into[v1alpha1.WorkloadProfile](t, workload), into[v1alpha1.NodeProfile](t, o))
	})
	for point, w := range at {
		t.Logf("%s: at most %v, %d KiB, of %s", point, w.took, w.bytes>>10, w.name)
		if w.bytes > most {
			t.Errorf("%s: %d bytes, of %s, want at most %d", point, w.bytes, w.name, most)
		}
	}
}
