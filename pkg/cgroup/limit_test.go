package cgroup_test

import (
	"testing"

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
