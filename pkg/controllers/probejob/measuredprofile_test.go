package probejob_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/slots"
)

func newSlots() *slots.Slots { return slots.New(10, clocktesting.NewFakePassiveClock(noon.Time)) }

// A label and an owner can be given to any pod by who may create it.
func TestAPodIsOfTheMeasurementThatHasItsNode(t *testing.T) {
	t.Parallel()
	nodes := newSlots()
	nodes.Acquire(slots.Owner{Namespace: "shop", UID: "web-uid"}, "worker-1")
	nodes.Acquire(slots.Owner{Namespace: "etl", UID: "sort-uid"}, "worker-2")
	nodes.Acquire(slots.Owner{Namespace: "etl", UID: "done-uid"}, "worker-3")
	nodes.Release("done-uid")
	probe := func(namespace, node, of string, change ...func(*corev1.Pod)) corev1.Pod {
		p := pod(running(), change...)
		p.Namespace, p.Spec.NodeName, p.Labels[probejob.MeasurementKey] = namespace, node, of
		for _, c := range change {
			c(&p)
		}
		return p
	}
	tests := map[string]struct {
		pod  corev1.Pod
		want types.UID
	}{
		"a probe":                                {probe("shop", "worker-1", "web-uid"), "web-uid"},
		"a probe that is about to end":           {probe("etl", "worker-3", "done-uid"), "done-uid"},
		"one without the label":                  {probe("shop", "worker-1", ""), ""},
		"one of nothing that there is":           {probe("shop", "worker-1", "x"), ""},
		"one on another node":                    {probe("shop", "worker-2", "web-uid"), ""},
		"one on the node of another":             {probe("etl", "worker-1", "sort-uid"), ""},
		"one of another namespace":               {probe("mallory", "worker-1", "web-uid"), ""},
		"one that no Job controls":               {probe("shop", "worker-1", "web-uid", func(p *corev1.Pod) { p.OwnerReferences = nil }), ""},
		"one that something else controls":       {probe("shop", "worker-1", "web-uid", func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }), ""},
		"one that a Job only owns, not controls": {probe("shop", "worker-1", "web-uid", func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := probejob.MeasuredProfile(&test.pod, nodes); got != test.want {
				t.Errorf("it is of %q, want %q", got, test.want)
			}
		})
	}
	names := func(p probejob.Pods) map[string]int {
		return map[string]int{"own": len(p.Own), "measured": len(p.Measured), "foreign": len(p.Foreign)}
	}
	all := []corev1.Pod{tests["a probe"].pod, tests["a probe that is about to end"].pod, tests["one of another namespace"].pod, tests["one without the label"].pod}
	if diff := cmp.Diff(map[string]int{"own": 1, "measured": 1, "foreign": 2}, names(probejob.Divide(all, "web-uid", nodes))); diff != "" {
		t.Errorf("unexpected numbers of pods (-want +got):\n%s", diff)
	}
}

// going are the profiles of a cluster in which two measurements go on.
func going() []client.Object {
	calibrating := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "a"}}
	calibrating.Status.Calibrating = &v1alpha1.CalibrationProgress{Node: "n1"}
	measuring := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "b"}}
	measuring.Status.Measuring = &v1alpha1.MeasurementProgress{Node: "n2", BaselineNode: "n3"}
	idle := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "slow", UID: "c"}}
	return []client.Object{calibrating, measuring, idle}
}

func TestWhatGoesOnKeepsItsNodesOverARestart(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	nodes := newSlots()
	broken := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("not now")
		},
	}).Build()
	if err := probejob.Restore(t.Context(), broken, nodes, "loadline"); err == nil {
		t.Fatal("restored from a cluster that does not answer")
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(going()...).Build()
	for range 2 { // the second time does nothing
		if err := probejob.Restore(t.Context(), c, nodes, "loadline"); err != nil {
			t.Fatal(err)
		}
		for _, node := range []string{"n1", "n2", "n3"} {
			if nodes.Free("c", node) || nodes.Acquire(slots.Owner{UID: "c"}, node) {
				t.Errorf("%s is free", node)
			}
		}
		if !nodes.Free("a", "n1") || !nodes.Free("c", "n4") {
			t.Error("a node is not free that nobody else holds")
		}
	}
	nodes.Release("a")
	if err := probejob.Restore(t.Context(), c, nodes, "loadline"); err != nil {
		t.Fatal(err)
	}
	if !nodes.Free("c", "n1") {
		t.Error("what was released is held again")
	}
}
