package cgroup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/fairshare"
)

func TestSharesFollowRequests(t *testing.T) {
	t.Parallel()
	for milliCPU, want := range map[int64]int64{0: 2, 1: 2, 2: 2, 3: 3, 100: 102, 250: 256, 1000: 1024, 256_000: 262144, 1 << 60: 262144} {
		if got := cgroup.Shares(milliCPU); got != want {
			t.Errorf("%dm: %d shares, want %d", milliCPU, got, want)
		}
	}
}

// The values of Linear are 1 + ((shares − 2) · 9999) / 262142 in whole numbers, as in
// Kubernetes' KEP-2254; those of Logarithmic are fixed at (2, 1), (1024, 100) and
// (262144, 10000) by its definition. 100m and 10m have 17 and 4, as in the
// announcement of the conversion on the blog of Kubernetes.
func TestWeightsFollowShares(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ shares, linear, logarithmic int64 }{
		{2, 1, 1}, {10, 1, 4}, {28, 1, 7}, {29, 2, 7}, {102, 4, 17}, {1024, 39, 100}, {262143, 9999, 10000}, {262144, 10000, 10000},
	} {
		got := []int64{cgroup.Linear.Weight(test.shares), cgroup.Logarithmic.Weight(test.shares), cgroup.None.Weight(test.shares)}
		if diff := cmp.Diff([]int64{test.linear, test.logarithmic, test.shares}, got); diff != "" {
			t.Errorf("%d shares (-want +got):\n%s", test.shares, diff)
		}
	}
}

func TestMoreSharesNeverWeighLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]cgroup.Conversion{cgroup.Linear, cgroup.Logarithmic, cgroup.None}).Draw(t, "conversion")
		shares := rapid.Int64Range(cgroup.MinShares, cgroup.MaxShares-1).Draw(t, "shares")
		if less, more := c.Weight(shares), c.Weight(shares+1); less > more || less < 1 {
			t.Errorf("%v: %d shares weigh %d, one more %d", c, shares, less, more)
		}
	})
}

func TestTheConversionIsToldFromTheRuntimeAsFarAsItTells(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]cgroup.Conversion{
		"containerd://2.2.0": cgroup.Logarithmic, "containerd://v2.3.1-rc.0": cgroup.Logarithmic, "containerd://3.0.0": cgroup.Logarithmic,
		"containerd://2.1.4": cgroup.Linear, "containerd://1.7.29": cgroup.Linear, "containerd://2": cgroup.Linear, "containerd://x.y": cgroup.Linear,
		"cri-o://1.34.0": cgroup.Linear, "": cgroup.Linear,
	} {
		node := &corev1.Node{}
		node.Status.NodeInfo.ContainerRuntimeVersion = version
		got, why := cgroup.Detect(node)
		if got != want || why == "" || !strings.Contains(why, version) {
			t.Errorf("%q: %v, %q; want %v", version, got, why, want)
		}
	}
}

// container requests and limits CPU; "" is nothing. With a limit it limits memory,
// too.
func container(name, request, limit string) corev1.Container {
	c := corev1.Container{Name: name}
	if request != "" {
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
	}
	if limit != "" {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit), corev1.ResourceMemory: resource.MustParse("1Gi")}
	}
	return c
}

func pod(name string, containers ...corev1.Container) corev1.Pod {
	p := corev1.Pod{Spec: corev1.PodSpec{Containers: containers}}
	p.Namespace, p.Name = "shop", name
	return p
}

// outline writes a tree in lines.
func outline(g *cgroup.Group, depth int) string {
	text := fmt.Sprintf("%s%s %dm %d %d\n", strings.Repeat("  ", depth), g.Name, g.MilliCPU, g.Shares, g.Weight)
	for _, child := range g.Children {
		text += outline(child, depth+1)
	}
	return text
}

// pointers returns where some pods are.
func pointers(pods []corev1.Pod) []*corev1.Pod {
	var all []*corev1.Pod
	for i := range pods {
		all = append(all, &pods[i])
	}
	return all
}

func somePods() []corev1.Pod {
	mesh := pod("mesh", container("app", "1", ""), container("log", "", ""))
	proxy := container("proxy", "500m", "")
	proxy.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	mesh.Spec.InitContainers = []corev1.Container{container("setup", "4", ""), proxy}
	done := pod("done", container("main", "8", ""))
	done.Status.Phase = corev1.PodSucceeded
	return []corev1.Pod{
		pod("cart", container("main", "250m", "")), mesh, done,
		pod("sure", container("main", "", "2")), pod("idle", container("main", "", "")), pod("also", container("main", "1", "1")),
	}
}

func TestTheTreeIsThatOfTheKubelet(t *testing.T) {
	t.Parallel()
	// The mesh requests what its init container does, 4 beside nothing, not
	// 1.5 = app + proxy; of its containers the sidecar runs on.
	const want = `kubepods 7250m 7424 284
  shop/also 1000m 1024 39
  shop/sure 2000m 2048 79
  burstable 4250m 4352 166
    shop/cart 250m 256 10
    shop/mesh 4000m 4096 157
      app 1000m 1024 100
      log 0m 2 1
      proxy 500m 512 59
  besteffort 0m 2 1
    shop/idle 0m 2 1
`
	got := outline(cgroup.Build(pointers(somePods()), cgroup.Options{Containers: cgroup.Logarithmic}), 0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected tree (-want +got):\n%s", diff)
	}
	v1 := cgroup.Build(pointers(somePods()), cgroup.Options{Pods: cgroup.None, Containers: cgroup.None})
	if burstable := v1.Children[2]; burstable.Weight != 4352 || burstable.Children[1].Children[0].Weight != 1024 {
		t.Errorf("on cgroup v1 the tree is\n%s", outline(v1, 0))
	}
	if empty := cgroup.Build(nil, cgroup.Options{}); len(empty.Children) != 0 {
		t.Errorf("no pods have the tree\n%s", outline(empty, 0))
	}
}

func TestTheModelTakesTheWeightsAndTheUsage(t *testing.T) {
	t.Parallel()
	root := cgroup.Build(pointers(somePods()), cgroup.Options{})
	asked := map[cgroup.Container]float64{{"shop", "mesh", "app"}: 0.3, {"shop", "idle", "main"}: 0.2}
	tree, err := fairshare.New(&fairshare.Group{Children: root.Members(func(c cgroup.Container) float64 { return asked[c] })})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]fairshare.TreeNode{}
	for n := range tree.Nodes() {
		nodes[n.Path] = n
	}
	for path, want := range map[string][2]float64{
		"shop/also": {39, 0}, "burstable/shop/mesh": {157, 0.3}, "burstable/shop/mesh/app": {39, 0.3}, "besteffort/shop/idle": {1, 0.2},
	} {
		if node := nodes[path]; node.Share != want[0] || node.Utilization != want[1] {
			t.Errorf("%s: %+v, want share and utilization %v", path, node, want)
		}
	}
	n := 0
	root.Containers(func(cgroup.Container) { n++ })
	if n != 7 || tree.Len() != 7 {
		t.Errorf("%d containers and %d workloads, want 7", n, tree.Len())
	}
}

func TestClassesAreThoseOfKubernetes(t *testing.T) {
	t.Parallel()
	amounts := rapid.SampledFrom([]string{"", "0", "1", "2"})
	rapid.Check(t, func(t *rapid.T) {
		requirements := func() corev1.ResourceRequirements {
			var r corev1.ResourceRequirements
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "example.com/gpu"} {
				limit, request := amounts.Draw(t, "limit"), amounts.Draw(t, "request")
				if limit != "" {
					if r.Limits == nil {
						r.Limits = corev1.ResourceList{}
					}
					r.Limits[name] = resource.MustParse(limit)
					if request == "" || request > limit {
						request = limit // as the API server has it
					}
				}
				if request != "" {
					if r.Requests == nil {
						r.Requests = corev1.ResourceList{}
					}
					r.Requests[name] = resource.MustParse(request)
				}
			}
			return r
		}
		p := pod("any")
		for i := range rapid.IntRange(1, 3).Draw(t, "containers") {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i), Resources: requirements()})
		}
		if rapid.Bool().Draw(t, "init") {
			p.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: requirements()}}
		}
		if got, want := cgroup.QoS(&p), qos.ComputePodQOS(&p); got != want {
			t.Errorf("%v, want %v, for %+v", got, want, p.Spec)
		}
	})
}

func TestAnotherRequestMakesAnotherPod(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before       corev1.Pod
		cpu          string
		qos          corev1.PodQOSClass
		limit        string
		untouchedQoS corev1.PodQOSClass
	}{
		"more of a request":   {pod("a", container("main", "1", "")), "2", corev1.PodQOSBurstable, "0", corev1.PodQOSBurstable},
		"a request at last":   {pod("a", container("main", "", "")), "2", corev1.PodQOSBurstable, "0", corev1.PodQOSBestEffort},
		"guaranteed stays so": {pod("a", container("main", "", "1")), "2", corev1.PodQOSGuaranteed, "2", corev1.PodQOSGuaranteed},
		"below its limit":     {pod("a", container("main", "1", "3")), "2", corev1.PodQOSBurstable, "3", corev1.PodQOSBurstable},
		"beyond its limit":    {pod("a", container("main", "1", "3")), "4", corev1.PodQOSGuaranteed, "4", corev1.PodQOSBurstable},
	} {
		after := cgroup.WithRequest(&test.before, "main", resource.MustParse(test.cpu))
		c := after.Spec.Containers[0].Resources
		if c.Requests.Cpu().String() != test.cpu || c.Limits.Cpu().String() != test.limit || cgroup.QoS(after) != test.qos {
			t.Errorf("%s: %v, %+v", name, cgroup.QoS(after), c)
		}
		if got := cgroup.QoS(&test.before); got != test.untouchedQoS {
			t.Errorf("%s: the pod itself is %v, want %v", name, got, test.untouchedQoS)
		}
	}
}
