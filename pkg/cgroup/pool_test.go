package cgroup_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// cpus is requests or limits of that much CPU.
func cpus(amount string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
}

func TestAPodIsOneJobWithTheWeightAndTheLimitOfItsGroup(t *testing.T) {
	t.Parallel()
	both := pod("both", container("app", "100m", "300m"), container("log", "50m", "200m"))
	some := pod("some", container("app", "100m", "300m"), container("log", "50m", ""))
	whole := pod("whole", container("app", "", ""), container("log", "", ""))
	whole.Spec.Resources = &corev1.ResourceRequirements{Requests: cpus("400m"), Limits: cpus("600m")}
	small := pod("small", container("app", "1m", "1m"))
	none := pod("none", container("app", "", ""))
	resized := pod("resized", container("app", "2", "4"))
	resized.Status.QOSClass = corev1.PodQOSBurstable
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "app", Resources: &corev1.ResourceRequirements{Requests: cpus("500m"), Limits: cpus("1")},
	}}
	pods := []corev1.Pod{pod("sure", container("app", "1", "1")), both, some, whole, small, none, resized}
	got, err := cgroup.NewPool(pointers(pods), 4, cgroup.Options{Pods: cgroup.None, Containers: cgroup.None})
	if err != nil {
		t.Fatal(err)
	}
	want := &cgroup.CorePool{
		Cores: 4, Exclusive: make([]int, 7),
		// 150m + 150m + 400m + 500m of the resized pod, which is what it has yet.
		Groups: []gps.Group{{}, {Weight: 1228}, {Weight: 2}},
		Shares: []loading.Share{
			{Weight: 1024, Limit: 1},
			{Weight: 153, Limit: 0.5, Group: 1},
			{Weight: 153, Group: 1},
			{Weight: 409, Limit: 0.6, Group: 1},
			{Weight: 2, Limit: 0.01},
			{Weight: 2, Group: 2},
			{Weight: 512, Limit: 1, Group: 1},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected pool (-want +got):\n%s", diff)
	}
}

func TestPodsWithCoresOfTheirOwnLeaveThePool(t *testing.T) {
	t.Parallel()
	whole, part, burstable := pod("whole", container("a", "2", "2"), container("b", "1", "1")), pod("part", container("a", "1500m", "1500m")), pod("burstable", container("a", "1", ""))
	pods := []corev1.Pod{whole, part, burstable}
	got, err := cgroup.NewPool(pointers(pods), 8, cgroup.Options{StaticCPUs: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{3, 0, 0}, got.Exclusive); got.Cores != 5 || diff != "" {
		t.Errorf("%d cores are shared, exclusive (-want +got):\n%s", got.Cores, diff)
	}
	vector := loading.Loadings(0.5, 0.2)
	if v := got.InPool(0, vector, 0); v[0].Loading != 0 || v[1] != vector[1] || vector[0].Loading != 0.5 {
		t.Errorf("a pod on its own cores has the vector %v in the pool, and is changed to %v", v, vector)
	}
	caches := slices.Concat(vector, loading.Vector{{Threads: 1, Effect: &loading.Effect{Pressure: 0.7}}})
	if e := got.InPool(0, caches, 0)[2].Effect; e.Exclusive != 0.5 || e.Pressure != 0.7 || caches[2].Effect.Exclusive != 0 {
		t.Errorf("on cores of its own the pod's effect is %+v, want it to compute half of the time", e)
	}
	if v := got.InPool(1, vector, 0); &v[0] != &vector[0] {
		t.Error("the vector of a pod in the pool was copied")
	}
	if got, err := cgroup.NewPool(pointers(pods[:1]), 3, cgroup.Options{StaticCPUs: true}); err != nil || got.Cores < 1 {
		t.Errorf("a node whose cores are all taken, with no other pod: %+v, %v", got, err)
	}
	if got, err := cgroup.NewPool(pointers(pods), 8, cgroup.Options{}); err != nil || got.Cores != 8 {
		t.Errorf("without the policy static: %+v, %v", got, err)
	}
}

func TestPodsThatNoKubeletRunsAreRefused(t *testing.T) {
	t.Parallel()
	done := pod("done", container("app", "1", ""))
	done.Status.Phase = corev1.PodFailed
	above := pod("above", container("app", "2", ""))
	above.Spec.Resources = &corev1.ResourceRequirements{Requests: cpus("3"), Limits: cpus("2")}
	for want, test := range map[string]struct {
		pods  []corev1.Pod
		cores int
	}{
		"cores: 0 is not between":                                {nil, 0},
		"pod shop/done: has ended: status.phase is Failed":       {[]corev1.Pod{done}, 1},
		"pod shop/none: spec.containers: there is none":          {[]corev1.Pod{pod("none")}, 1},
		"container app: resources.requests.cpu: 2 is more than":  {[]corev1.Pod{pod("a", container("app", "2", "1"))}, 1},
		"container app: resources.requests.cpu: -1 is less than": {[]corev1.Pod{pod("a", container("app", "-1", ""))}, 1},
		"container app: resources.limits.cpu: -1 is less than":   {[]corev1.Pod{pod("a", container("app", "", "-1"))}, 1},
		"pod shop/above: spec.resources.requests.cpu: 3 is more": {[]corev1.Pod{above}, 1},
		"cores: pods have 2 for themselves, of 2: none is left":  {[]corev1.Pod{pod("a", container("app", "2", "2")), pod("b", container("app", "1", ""))}, 2},
		"cores: pods have 3 for themselves, of 2":                {[]corev1.Pod{pod("a", container("app", "3", "3"))}, 2},
	} {
		if _, err := cgroup.NewPool(pointers(test.pods), test.cores, cgroup.Options{StaticCPUs: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Whatever pods request, the model has an answer that is a number.
func TestAnyPodsCanBePredicted(t *testing.T) {
	t.Parallel()
	amounts := rapid.SampledFrom([]string{"", "0", "1n", "1m", "100m", "2", "64", "1e18", "9E", "1e30"})
	rapid.Check(t, func(t *rapid.T) {
		var pods []corev1.Pod
		var jobs []loading.Vector
		for range rapid.IntRange(1, 5).Draw(t, "pods") {
			request, limit := amounts.Draw(t, "request"), amounts.Draw(t, "limit")
			c := container("app", request, limit)
			if limit != "" && request != "" && c.Resources.Requests.Cpu().Cmp(*c.Resources.Limits.Cpu()) > 0 {
				c = container("app", limit, request)
			}
			pods = append(pods, pod("any", c))
			jobs = append(jobs, loading.Loadings(rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "loading")))
		}
		options := cgroup.Options{Pods: rapid.SampledFrom([]cgroup.Conversion{cgroup.Linear, cgroup.None}).Draw(t, "conversion")}
		pool, err := cgroup.NewPool(pointers(pods), rapid.IntRange(1, 4).Draw(t, "cores"), options)
		if err != nil {
			t.Fatal(err)
		}
		p, err := contention.PredictSharing(jobs, []int{pool.Cores}, pool.Sharing(0), queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range p.Dilations {
			if !(d >= 1) || math.IsInf(d, 0) {
				t.Fatalf("dilations %v", p.Dilations)
			}
		}
	})
}

func TestTheSystemIsASiblingOfAllPodsTogether(t *testing.T) {
	t.Parallel()
	pods := []corev1.Pod{pod("sure", container("app", "500m", "500m")), pod("some", container("app", "100m", "")), pod("none", container("app", "", ""))}
	pods[0].Status.QOSClass = corev1.PodQOSGuaranteed
	for name, c := range map[string]struct {
		conversion cgroup.Conversion
		want       *cgroup.CorePool
	}{
		"cgroup v1": {cgroup.None, &cgroup.CorePool{
			Groups: []gps.Group{{}, {Weight: 2048}, {Parent: 1, Weight: 102}, {Parent: 1, Weight: 2}},
			Shares: []loading.Share{{Weight: 512, Limit: 0.5, Group: 1}, {Weight: 102, Group: 2}, {Weight: 2, Group: 3}, {Weight: 1024}},
		}},
		"cgroup v2": {cgroup.Linear, &cgroup.CorePool{
			Groups: []gps.Group{{}, {Weight: 79}, {Parent: 1, Weight: 4}, {Parent: 1, Weight: 1}},
			Shares: []loading.Share{{Weight: 20, Limit: 0.5, Group: 1}, {Weight: 4, Group: 2}, {Weight: 1, Group: 3}, {Weight: 100}},
		}},
	} {
		got, err := cgroup.NewPool(pointers(pods), 2, cgroup.Options{Pods: c.conversion})
		if err != nil {
			t.Fatal(err)
		}
		got.AddSystem(2000, c.conversion)
		c.want.Cores, c.want.Exclusive = 2, make([]int, 4)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: unexpected pool (-want +got):\n%s", name, diff)
		}
	}
}
