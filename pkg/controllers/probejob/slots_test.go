package probejob_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

func TestOneMeasurementAtATimeUsesANode(t *testing.T) {
	t.Parallel()
	type step struct {
		owner types.UID
		nodes []string // nil to release
		want  bool
	}
	tests := map[string]struct {
		limit int
		steps []step
	}{
		"a node is used by one":                  {3, []step{{"a", []string{"n1"}, true}, {"b", []string{"n1"}, false}, {"b", []string{"n2"}, true}}},
		"asking again changes nothing":           {1, []step{{"a", []string{"n1"}, true}, {"a", []string{"n1"}, true}, {"b", []string{"n2"}, false}}},
		"what is released is free":               {1, []step{{"a", []string{"n1"}, true}, {"a", nil, true}, {"b", []string{"n1"}, true}}},
		"the limit is on nodes":                  {2, []step{{"a", []string{"n1", "n2"}, true}, {"b", []string{"n3"}, false}}},
		"a pair above the limit is let in alone": {1, []step{{"a", []string{"n1", "n2"}, true}, {"b", []string{"n3"}, false}}},
		"a pair waits for the others":            {2, []step{{"a", []string{"n1"}, true}, {"b", []string{"n2", "n3"}, false}, {"a", nil, true}, {"b", []string{"n2", "n3"}, true}}},
		"an owner moves":                         {1, []step{{"a", []string{"n1"}, true}, {"a", []string{"n2"}, true}, {"a", []string{"n1"}, true}}},
		"a node that was left is free":           {2, []step{{"a", []string{"n1"}, true}, {"a", []string{"n2"}, true}, {"b", []string{"n1"}, true}}},
		"who may not move stays":                 {2, []step{{"a", []string{"n1"}, true}, {"b", []string{"n2"}, true}, {"a", []string{"n2"}, false}, {"b", []string{"n1"}, false}}},
		"the same node twice is one":             {2, []step{{"a", []string{"n1", "n1"}, true}, {"b", []string{"n2"}, true}}},
		"releasing what is not held is nothing":  {1, []step{{"a", nil, true}, {"b", []string{"n1"}, true}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slots := probejob.NewSlots(test.limit)
			for i, s := range test.steps {
				if s.nodes == nil {
					slots.Release(s.owner)
					continue
				}
				if got := slots.Acquire(s.owner, s.nodes...); got != s.want {
					t.Errorf("step %d: %s gets %v: %v, want %v", i+1, s.owner, s.nodes, got, s.want)
				}
			}
		})
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
	slots := probejob.NewSlots(10)
	broken := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("not now")
		},
	}).Build()
	if err := slots.Restore(t.Context(), broken); err == nil {
		t.Fatal("restored from a cluster that does not answer")
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(going()...).Build()
	for range 2 { // the second time does nothing
		if err := slots.Restore(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for _, node := range []string{"n1", "n2", "n3"} {
			if slots.Free("c", node) || slots.Acquire("c", node) {
				t.Errorf("%s is free", node)
			}
		}
		if !slots.Free("a", "n1") || !slots.Free("c", "n4") {
			t.Error("a node is not free that nobody else holds")
		}
	}
	slots.Release("a")
	if err := slots.Restore(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if !slots.Free("c", "n1") {
		t.Error("what was released is held again")
	}
}

func TestWhatIsGoneHoldsNothing(t *testing.T) {
	t.Parallel()
	slots := probejob.NewSlots(10)
	old, renewed := going()[0], going()[2]
	slots.Acquire("a", "n1")
	slots.WhenGone().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: old, ObjectNew: old}, nil)
	if slots.Free("c", "n1") {
		t.Error("a change released the node")
	}
	slots.WhenGone().Delete(t.Context(), ctrlevent.DeleteEvent{Object: old}, nil)
	if !slots.Free("c", "n1") {
		t.Error("the node of a profile that was deleted is held")
	}
	slots.Acquire("a", "n1")
	slots.WhenGone().Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: old, ObjectNew: renewed}, nil)
	if !slots.Free("c", "n1") {
		t.Error("the node of a profile that was made anew is held")
	}
}
