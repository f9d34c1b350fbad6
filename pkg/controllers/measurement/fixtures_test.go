package measurement

import (
	"fmt"
	"math"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// filecomp is a profile to be measured.
func filecomp(edits ...func(*v1alpha1.Measurement)) *v1alpha1.WorkloadProfile {
	p := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "filecomp", UID: "1234", Generation: 1},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"app": "filecomp"}},
			Measurement: &v1alpha1.Measurement{Target: &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetJob, Name: "filecomp"}},
		},
	}
	for _, edit := range edits {
		edit(p.Spec.Measurement)
	}
	return p
}

// asService has the pods measured as they run.
func asService(m *v1alpha1.Measurement) { m.Target = nil }

// only has some resources measured.
func only(names ...string) func(*v1alpha1.Measurement) {
	return func(m *v1alpha1.Measurement) {
		for _, name := range names {
			m.Resources = append(m.Resources, v1alpha1.ProbedResource{Name: name})
		}
	}
}

// targetJob is the Job whose pods are measured.
func targetJob() *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "filecomp", UID: "target"},
		Spec: batchv1.JobSpec{Suspend: new(true), Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "filecomp"}},
			Spec: corev1.PodSpec{
				ServiceAccountName: "etl", RestartPolicy: corev1.RestartPolicyOnFailure,
				Containers: []corev1.Container{{
					Name: "main", Image: "example.test/filecomp",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}},
				}},
			},
		}},
	}
}

// worker is a node with the given number of cores.
func worker(name string, cores int, labels ...string) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(fmt.Sprint(cores))},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, label := range labels {
		n.Labels[label] = "true"
	}
	return n
}

// class is a NodeProfile for the nodes with a label.
func class(name string, servers map[string]int32) *v1alpha1.NodeProfile {
	p := &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: 1},
		Spec:       v1alpha1.NodeProfileSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{name: "true"}}},
	}
	for resource, n := range servers {
		p.Spec.Resources = append(p.Spec.Resources, v1alpha1.ResourceServers{Name: resource, Servers: new(n)})
	}
	return p
}

// service is a running pod of an app on a node.
func service(name, app, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: name, UID: types.UID(name), Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "example.test/main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// vector checks a measured vector against the truth, within 0.03.
func vector(t *testing.T, p *v1alpha1.WorkloadProfile, class string, want map[string]float64) *v1alpha1.MeasuredVector {
	t.Helper()
	for i := range p.Status.Measurements {
		m := &p.Status.Measurements[i]
		if m.NodeProfile != class {
			continue
		}
		if len(m.Resources) != len(want) {
			t.Errorf("%d resources were measured on class %s, want %v", len(m.Resources), class, want)
		}
		for _, r := range m.Resources {
			for what, q := range map[string]*resource.Quantity{"loading": r.Loading, "pressure": r.Pressure} {
				if got := q.AsApproximateFloat64(); math.Abs(got-want[r.Name]) > 0.03 {
					t.Errorf("the %s at %s on class %s is %v, want %v ± 0.03", what, r.Name, class, got, want[r.Name])
				}
			}
		}
		return m
	}
	t.Fatalf("nothing was measured on class %s: %+v", class, p.Status)
	return nil
}
