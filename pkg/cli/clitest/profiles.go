package clitest

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// GaugesOn returns the DaemonSet of gauges that are ready on some nodes.
func GaugesOn(nodes int32) *appsv1.DaemonSet {
	gauges := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "loadline-gauge", Name: "loadline-gauge", Labels: map[string]string{
		"app.kubernetes.io/part-of": "loadline", "app.kubernetes.io/component": "gauge", "app.kubernetes.io/version": "0.2.0",
	}}}
	gauges.Status.DesiredNumberScheduled, gauges.Status.NumberReady = nodes, nodes
	return gauges
}

// Conditions returns a profile's conditions.
func Conditions(ready metav1.ConditionStatus, conflicted bool) []metav1.Condition {
	conflict := metav1.ConditionFalse
	if conflicted {
		conflict = metav1.ConditionTrue
	}
	return []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: ready}, {Type: v1alpha1.ConditionConflicted, Status: conflict}}
}

// WorkloadProfile returns a profile that is ready, edited.
func WorkloadProfile(name string, edit func(*v1alpha1.WorkloadProfile)) *v1alpha1.WorkloadProfile {
	p := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: name, Generation: 1}}
	p.Status.ObservedGeneration, p.Status.Conditions = new(int64(1)), Conditions(metav1.ConditionTrue, false)
	edit(p)
	return p
}

// SomeProfiles returns one of each kind that is well.
func SomeProfiles() []client.Object {
	node := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "ssd"}}
	node.Spec.Calibration = &v1alpha1.Calibration{}
	node.Status = v1alpha1.NodeProfileStatus{
		ObservedGeneration: new(int64(0)), Conditions: Conditions(metav1.ConditionTrue, false), Nodes: new(int32(4)), Resources: []v1alpha1.CalibratedResource{{Name: "disk"}},
	}
	return []client.Object{
		node,
		WorkloadProfile("declared", func(p *v1alpha1.WorkloadProfile) { p.Status.Pods = new(int32(7)) }),
		WorkloadProfile("measured", func(p *v1alpha1.WorkloadProfile) {
			p.Status.Pods = new(int32(2))
			p.Spec.Measurement = &v1alpha1.Measurement{}
			p.Status.Measurements = []v1alpha1.MeasuredVector{{NodeProfile: "ssd"}}
		}),
		WorkloadProfile("measuring", func(p *v1alpha1.WorkloadProfile) {
			p.Spec.Measurement = &v1alpha1.Measurement{}
			p.Status.Conditions = Conditions(metav1.ConditionUnknown, false)
			p.Status.Measuring = &v1alpha1.MeasurementProgress{}
		}),
	}
}
