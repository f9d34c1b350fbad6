package disruption_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// pod returns a ready pod of Deployment shop/web that has run on n1 for an hour, as changed.
func pod(name string, changes ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, CreationTimestamp: ago(time.Hour), Labels: map[string]string{"app": "web", "pod-template-hash": "5d4f"},
			Annotations: map[string]string{},
		},
		Spec: corev1.PodSpec{NodeName: "n1", RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "main", Resources: resources("250m", "")}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: new(ago(time.Hour)), Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	of("ReplicaSet", "web-5d4f")(&p)
	for _, change := range changes {
		change(&p)
	}
	return p
}

// resources are requests and limits of CPU, "" for none.
func resources(request, limit string) corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	if request != "" {
		r.Requests[corev1.ResourceCPU] = resource.MustParse(request)
	}
	if limit != "" {
		r.Limits[corev1.ResourceCPU] = resource.MustParse(limit)
	}
	return r
}

func of(kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID(kind + name), Controller: new(true)}}
	}
}

func annotated(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

func labelled(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func in(namespace string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Namespace = namespace }
}

// guard returns a PodDisruptionBudget for the pods of app=web, as changed.
func guard(name string, changes ...func(*policyv1.PodDisruptionBudget)) policyv1.PodDisruptionBudget {
	b := policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	for _, change := range changes {
		change(&b)
	}
	return b
}

func available(n string) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable = new(intstr.Parse(n)) }
}

func unavailable(n string) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable = new(intstr.Parse(n)) }
}

// says has the status of a budget.
func says(allowed, healthy, desired int32) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) {
		b.Generation = 1
		b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: allowed, CurrentHealthy: healthy, DesiredHealthy: desired, ExpectedPods: healthy}
	}
}

func rules(t *testing.T, in disruption.Input) *disruption.Rules {
	t.Helper()
	if in.Now.IsZero() {
		in.Now = noon
	}
	r, err := disruption.New(&in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
