package cgroup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
)

func TestAPodIsLimitedWhereAllItsContainersAreOrItselfIs(t *testing.T) {
	t.Parallel()
	sidecar := func(limit string) corev1.Container {
		c := container("proxy", "", limit)
		c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		return c
	}
	ofPod := func(cpu string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	for name, test := range map[string]struct {
		spec corev1.PodSpec
		want int64
	}{
		"one":                    {corev1.PodSpec{Containers: []corev1.Container{container("a", "", "300m")}}, 300},
		"two":                    {corev1.PodSpec{Containers: []corev1.Container{container("a", "", "300m"), container("b", "", "1")}}, 1300},
		"one of two":             {corev1.PodSpec{Containers: []corev1.Container{container("a", "", "300m"), container("b", "1", "")}}, 0},
		"of zero":                {corev1.PodSpec{Containers: []corev1.Container{container("a", "", "0")}}, 0},
		"less than the least":    {corev1.PodSpec{Containers: []corev1.Container{container("a", "", "1m")}}, 10},
		"with a limited sidecar": {corev1.PodSpec{Containers: []corev1.Container{container("a", "", "1")}, InitContainers: []corev1.Container{sidecar("200m")}}, 1200},
		"with a sidecar without": {corev1.PodSpec{Containers: []corev1.Container{container("a", "", "1")}, InitContainers: []corev1.Container{sidecar("")}}, 0},
		"the pod as a whole":     {corev1.PodSpec{Containers: []corev1.Container{container("a", "", "")}, Resources: ofPod("2")}, 2000},
	} {
		if got := cgroup.Limit(&corev1.Pod{Spec: test.spec}); got != test.want {
			t.Errorf("%s: %dm, want %dm", name, got, test.want)
		}
	}
}

// The kubelet's MilliCPUToQuota gives 1000 µs per 100 ms where the limit would be less.
func TestAQuotaIsAtLeastAMillisecond(t *testing.T) {
	t.Parallel()
	for milliCPU, want := range map[int64]int64{1: 10, 10: 10, 11: 11, 300: 300} {
		if got := cgroup.Quota(milliCPU); got != want {
			t.Errorf("%dm: %dm, want %dm", milliCPU, got, want)
		}
	}
}

func TestEachLimitOfAPodIsAQuotaOfItsOwn(t *testing.T) {
	t.Parallel()
	sidecar := container("proxy", "", "100m")
	sidecar.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{container("init", "", "4"), sidecar},
		Containers:     []corev1.Container{container("app", "", "2"), container("log", "", ""), container("tiny", "", "1m")},
	}}
	whole, containers := cgroup.Limits(pod)
	want := []cgroup.Limited{{Name: "proxy", MilliCPU: 100}, {Name: "app", MilliCPU: 2000}, {Name: "log"}, {Name: "tiny", MilliCPU: 10}}
	if diff := cmp.Diff(want, containers); whole != 0 || diff != "" {
		t.Errorf("of the pod as a whole %d; of containers (-want +got):\n%s", whole, diff)
	}
	pod.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}
	if whole, _ := cgroup.Limits(pod); whole != 3000 {
		t.Errorf("of the pod as a whole %d, want 3000", whole)
	}
	raised := cgroup.WithLimit(pod, "proxy", resource.MustParse("400m"))
	want[0].MilliCPU = 400
	if _, containers := cgroup.Limits(raised); !cmp.Equal(want, containers) {
		t.Errorf("with another limit (-want +got):\n%s", cmp.Diff(want, containers))
	}
	if _, containers := cgroup.Limits(pod); containers[0].MilliCPU != 100 {
		t.Errorf("the pod itself has another limit: %+v", containers)
	}
}
