package statuses_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

func TestOnlyOtherNumbersChangeAProfile(t *testing.T) {
	t.Parallel()
	workload := func(change func(*v1alpha1.WorkloadProfile)) client.Object {
		p := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 1}}
		p.Spec.Measurement = &v1alpha1.Measurement{}
		change(p)
		return p
	}
	node := func(change func(*v1alpha1.NodeProfile)) client.Object {
		p := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 1}}
		p.Spec.Calibration = &v1alpha1.Calibration{}
		change(p)
		return p
	}
	tests := map[string]struct {
		old, next client.Object
		want      bool
		observed  bool // and by nothing else
	}{
		"a workload's condition": {
			workload(func(*v1alpha1.WorkloadProfile) {}),
			workload(func(p *v1alpha1.WorkloadProfile) { p.Status.Conditions = []metav1.Condition{{Type: "Ready"}} }), false, false,
		},
		"a workload's spec": {
			workload(func(*v1alpha1.WorkloadProfile) {}), workload(func(p *v1alpha1.WorkloadProfile) { p.Generation = 2 }), true, false,
		},
		"a workload's measurement": {
			workload(func(*v1alpha1.WorkloadProfile) {}),
			workload(func(p *v1alpha1.WorkloadProfile) {
				p.Status.Measurements = []v1alpha1.MeasuredVector{{
					NodeProfile: "fast", Resources: []v1alpha1.MeasuredLoading{{Name: "cpu", Loading: new(resource.MustParse("0.5"))}},
				}}
			}), true, false,
		},
		"what is recommended for a workload": {
			workload(func(p *v1alpha1.WorkloadProfile) { recommend(p, "0.2") }), workload(func(p *v1alpha1.WorkloadProfile) { recommend(p, "0.3") }), true, true,
		},
		"what is recommended for a workload, and its spec": {
			workload(func(p *v1alpha1.WorkloadProfile) { recommend(p, "0.2") }),
			workload(func(p *v1alpha1.WorkloadProfile) { recommend(p, "0.3"); p.Generation = 2 }), true, false,
		},
		"for how long a workload was observed": {
			workload(func(p *v1alpha1.WorkloadProfile) { recommend(p, "0.2") }),
			workload(func(p *v1alpha1.WorkloadProfile) {
				recommend(p, "0.2")
				p.Status.Observations[0].ObservedSeconds = new(int64(99))
			}), false, false,
		},
		"a node's condition": {
			node(func(*v1alpha1.NodeProfile) {}),
			node(func(p *v1alpha1.NodeProfile) { p.Status.Conditions = []metav1.Condition{{Type: "Ready"}} }), false, false,
		},
		"a node's calibration": {
			node(func(*v1alpha1.NodeProfile) {}),
			node(func(p *v1alpha1.NodeProfile) {
				p.Status.Resources = []v1alpha1.CalibratedResource{{Name: "disk", Servers: new(int32(4))}}
			}), true, false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := statuses.ProfileChanged().Update(event.UpdateEvent{ObjectOld: test.old, ObjectNew: test.next}); got != test.want {
				t.Errorf("changed = %v, want %v", got, test.want)
			}
			if got := statuses.ObservedChanged().Update(event.UpdateEvent{ObjectOld: test.old, ObjectNew: test.next}); got != test.observed {
				t.Errorf("only what is observed changed = %v, want %v", got, test.observed)
			}
			if observed := statuses.ObservedChanged(); observed.Create(event.CreateEvent{Object: test.next}) || observed.Delete(event.DeleteEvent{Object: test.old}) {
				t.Error("an object that comes or goes is passed as one of which something else is observed")
			}
		})
	}
}

// recommend recommends a loading for a workload whose profile follows what is observed.
func recommend(p *v1alpha1.WorkloadProfile, loading string) {
	p.Spec.Observation = &v1alpha1.Observation{Mode: v1alpha1.ModeApply}
	p.Status.Observations = []v1alpha1.WorkloadObservation{{
		NodeProfile: "fast", Recommended: &v1alpha1.RecommendedLoading{CPULoading: new(resource.MustParse(loading)), Threads: new(int32(1))},
	}}
}
