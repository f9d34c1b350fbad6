package cgroup_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
)

func TestAPodCanBeGivenOtherCPU(t *testing.T) {
	t.Parallel()
	resized := pod("resized", container("main", "1", "2"))
	resized.Status.QOSClass = corev1.PodQOSBurstable
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Resources: &corev1.ResourceRequirements{Requests: cpus("200m"), Limits: cpus("400m")}}}
	whole := pod("whole", container("main", "", ""))
	whole.Spec.Resources = &corev1.ResourceRequirements{Requests: cpus("400m"), Limits: cpus("600m")}
	two := pod("two", container("a", "300m", "500m"), container("b", "100m", "200m"))
	guaranteed := pod("guaranteed", container("main", "1", "1"))
	for name, test := range map[string]struct {
		pod            corev1.Pod
		request, limit string // empty leaves it
		want           string // request and limit then, and the class
	}{
		"nothing":                     {resized, "", "", "200m 400m Burstable"},
		"less than was asked for":     {resized, "300m", "", "300m 400m Burstable"},
		"no request any more":         {pod("a", container("main", "1", "")), "0", "", "0 - BestEffort"},
		"a first request":             {pod("a", container("main", "", "")), "200m", "", "200m - Burstable"},
		"a first limit":               {pod("a", container("main", "", "")), "", "200m", "200m 200m Burstable"},
		"both of several containers":  {two, "1", "2", "1 2 Burstable"},
		"only the limit of several":   {two, "", "450m", "400m 450m Burstable"},
		"no limit of several":         {two, "", "0", "400m - Burstable"},
		"those of a pod as a whole":   {whole, "500m", "", "500m 600m Burstable"},
		"guaranteed stays so":         {guaranteed, "2", "", "2 2 Guaranteed"},
		"guaranteed follows down":     {guaranteed, "", "500m", "500m 500m Guaranteed"},
		"guaranteed does not go up":   {guaranteed, "", "2", "1 2 Burstable"},
		"guaranteed in all but limit": {guaranteed, "1", "0", "1 - Burstable"},
	} {
		var request, limit *resource.Quantity
		if test.request != "" {
			request = new(resource.MustParse(test.request))
		}
		if test.limit != "" {
			limit = new(resource.MustParse(test.limit))
		}
		before := test.pod.DeepCopy()
		after, err := cgroup.WithCPU(&test.pod, request, limit)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := []string{"", "-", string(cgroup.QoS(after))}
		r, l := cgroup.CPU(after)
		got[0] = r.String()
		if l != nil {
			got[1] = l.String()
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if before.String() != test.pod.String() {
			t.Errorf("%s: the pod itself is changed", name)
		}
	}
	for name, test := range map[string][2]*resource.Quantity{
		"a request above the limit": {new(resource.MustParse("3")), nil},
		"a limit below the request": {nil, new(resource.MustParse("500m"))},
		"both":                      {new(resource.MustParse("3")), new(resource.MustParse("1"))},
	} {
		some := pod("some", container("main", "1", "2"))
		if _, err := cgroup.WithCPU(&some, test[0], test[1]); err == nil || !strings.Contains(err.Error(), " is above the limit of ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
