package cgroup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/loading"
)

func TestThePlaceOfAPodAmongAllPods(t *testing.T) {
	t.Parallel()
	overhead := pod("overhead", container("app", "100m", ""))
	overhead.Spec.Overhead = cpus("900m")
	whole := pod("whole", container("app", "", ""))
	whole.Spec.Resources = &corev1.ResourceRequirements{Requests: cpus("400m"), Limits: cpus("600m")}
	resized := pod("resized", container("app", "2", "4"))
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "app", Resources: &corev1.ResourceRequirements{Requests: cpus("500m"), Limits: cpus("1")},
	}}
	negative := pod("negative", container("app", "-1", "-1"))
	memory := pod("memory", container("app", "", ""))
	memory.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	for want, pods := range map[loading.Share][]corev1.Pod{
		{Weight: 39}:              {pod("one", container("app", "1", "")), overhead, pod("two", container("app", "500m", "1"), container("log", "500m", ""))},
		{Weight: 39, Limit: 1}:    {pod("sure", container("app", "1", "1")), pod("limit", container("app", "", "1"))},
		{Weight: 10000}:           {pod("huge", container("app", "9999999", ""))},
		{Weight: 1, Limit: 0.01}:  {pod("small", container("app", "1m", "1m"))},
		{Weight: 1}:               {memory, negative},
		{Weight: 0.25}:            {pod("none", container("app", "", "")), pod("empty")},
		{Weight: 16, Limit: 0.6}:  {whole},
		{Weight: 20, Limit: 1}:    {resized},
		{Weight: 6, Limit: 0.5}:   {pod("both", container("app", "100m", "300m"), container("log", "50m", "200m"))},
		{Weight: 79, Limit: 2.25}: {pod("more", container("app", "2", "2250m"))},
	} {
		for i := range pods {
			before := pods[i].DeepCopy()
			if got := cgroup.Flat(&pods[i]); got != want {
				t.Errorf("%s: %+v, want %+v", pods[i].Name, got, want)
			}
			if diff := cmp.Diff(before, &pods[i]); diff != "" {
				t.Errorf("%s changed:\n%s", pods[i].Name, diff)
			}
		}
	}
}

// Whatever the status of a pod says of its containers, its place is that of a pod whose specification says so; and where that is what the
// specification says, as of all pods that are not being resized, it takes no memory to find out.
func TestThePlaceOfAPodThatRuns(t *testing.T) {
	t.Parallel()
	amounts := []corev1.ResourceList{nil, cpus("100m"), cpus("300m"), {corev1.ResourceMemory: resource.MustParse("1Gi")}}
	cases := 0
	for _, class := range []corev1.PodQOSClass{"", corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		for _, requests := range amounts {
			for _, limits := range amounts {
				for _, actualRequests := range amounts {
					for _, actualLimits := range amounts {
						running := pod("running", container("app", "", ""), container("log", "50m", "200m"))
						running.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
						running.Status.QOSClass = class
						want := running.DeepCopy()
						want.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: actualRequests, Limits: actualLimits}
						running.Status.ContainerStatuses = []corev1.ContainerStatus{
							{Name: "log", Resources: running.Spec.Containers[1].Resources.DeepCopy()},
							{Name: "app", Resources: want.Spec.Containers[0].Resources.DeepCopy()},
						}
						if cgroup.Validate(want) != nil || cgroup.Validate(&running) != nil {
							continue // a request above its limit
						}
						cases++
						if diff := cmp.Diff(said(t, want), said(t, &running)); diff != "" {
							t.Errorf("%q, %v and %v of which %v and %v hold (-want +got):\n%s", class, requests, limits, actualRequests, actualLimits, diff)
						}
					}
				}
			}
		}
	}
	if cases < 500 {
		t.Errorf("only %d cases are valid", cases)
	}
}

// said is all that this package says of a pod.
func said(t *testing.T, pod *corev1.Pod) map[string]any {
	t.Helper()
	pool, err := cgroup.NewPool([]*corev1.Pod{pod}, 4, cgroup.Options{StaticCPUs: true})
	if err != nil {
		t.Fatal(err)
	}
	request, limit := cgroup.CPU(pod)
	whole, containers := cgroup.Limits(pod)
	name, most, mostLimit := cgroup.Largest(pod)
	return map[string]any{
		"flat": cgroup.Flat(pod), "class": cgroup.QoS(pod), "pool": pool, "limit": cgroup.Limit(pod), "request": request, "whole": whole,
		"limits": containers, "exclusive": cgroup.Exclusive(pod), "all": limit, "largest": []any{name, most, mostLimit}, "milli": cgroup.MilliCPU(pod),
	}
}

func TestThePlaceOfAPodThatRunsTakesNoMemory(t *testing.T) {
	running := pod("running", container("app", "100m", "300m"))
	running.Status.QOSClass = corev1.PodQOSBurstable
	running.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", Resources: running.Spec.Containers[0].Resources.DeepCopy()}}
	for name, f := range map[string]func(){
		"flat": func() { cgroup.Flat(&running) }, "limit": func() { cgroup.Limit(&running) }, "requests": func() { cgroup.MilliCPU(&running) }, "class": func() { cgroup.QoS(&running) },
	} {
		if n := testing.AllocsPerRun(100, f); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Where no pod is BestEffort, shares of the tree and of the flat list are close.
func TestTheFlatListIsCloseToTheTree(t *testing.T) {
	t.Parallel()
	pods := []corev1.Pod{
		pod("a", container("app", "1", "1")), pod("b", container("app", "500m", "500m")),
		pod("c", container("app", "250m", "")), pod("d", container("app", "2", "")), pod("e", container("app", "100m", "")),
	}
	for i := range pods[:2] { // Guaranteed
		r := &pods[i].Spec.Containers[0].Resources
		r.Requests[corev1.ResourceMemory] = r.Limits[corev1.ResourceMemory]
	}
	pool, err := cgroup.NewPool(pointers(pods), 4, cgroup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	flat, tree, inside := 0.0, 0.0, 0.0
	for i := range pods {
		flat += cgroup.Flat(&pods[i]).Weight
		if pool.Shares[i].Group == 0 {
			tree += pool.Shares[i].Weight
		} else {
			inside += pool.Shares[i].Weight
		}
	}
	tree += pool.Groups[1].Weight
	for i := range pods {
		of := pool.Shares[i].Weight / tree
		if pool.Shares[i].Group > 0 {
			of = pool.Groups[1].Weight / tree * pool.Shares[i].Weight / inside
		}
		if got := cgroup.Flat(&pods[i]).Weight / flat; got < of*0.95 || got > of*1.05 {
			t.Errorf("%s has %v of all weights, in the tree %v", pods[i].Name, got, of)
		}
	}
}
