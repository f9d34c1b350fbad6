package dilation

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// While pods come and go, and profiles, modes and the labels of the node change, what is known of the pods that stay is what is found
// when all are looked at anew.
func TestPodsThatStayAreKnownAsIfTheyWereNew(t *testing.T) {
	t.Parallel()
	threaded := func(loading float64) v1alpha1.ResourceDemand { // with as many threads as the larger nodes have processors
		d := demand("cpu", loading)
		d.Threads = new(int32(8))
		return d
	}
	light, heavy := bounded(workload("light", threaded(0.1)), 1.5), measuredOn(workload("heavy", demand("cpu", 0.6), demand("disk", 0.3)), "big", map[string]float64{"cpu": 0.3})
	class := nodeProfile(map[string]int{"disk": 2})
	big := nodeProfile(map[string]int{"disk": 2})
	big.Name, big.UID, big.Spec.Selector = "big", "big", &metav1.LabelSelector{MatchLabels: map[string]string{"class": "big"}}
	d := guarded(t, nil, light, heavy, class, big)
	node := testNode("node", 8)
	d.knows(node)
	random := rand.New(rand.NewPCG(1, 2))
	var pods []*corev1.Pod
	for step := range 400 {
		switch change := random.IntN(10); {
		case change < 6 || len(pods) == 0:
			pod := requesting(testPod(fmt.Sprint("pod-", step), []string{"light", "heavy", "none"}[random.IntN(3)]), fmt.Sprintf("%dm", 100*random.IntN(4)), "")
			pods = append(pods, pod)
			info, err := framework.NewPodInfo(pod)
			if err != nil {
				t.Fatal(err)
			}
			node.AddPodInfo(info)
		case change < 8:
			gone := random.IntN(len(pods))
			if err := node.RemovePod(logr.Discard(), pods[gone]); err != nil {
				t.Fatal(err)
			}
			pods = slices.Delete(pods, gone, gone+1)
		case change < 9:
			changed := light.DeepCopy()
			changed.Generation++
			changed.Spec.Resources = []v1alpha1.ResourceDemand{threaded(0.1 + 0.1*random.Float64())}
			d.index.OnUpdate(light, changed)
			light = changed
		default:
			object := node.Node().DeepCopy()
			object.Labels = map[string]string{"class": []string{"", "big"}[random.IntN(2)]}
			object.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse([]string{"4", "8"}[random.IntN(2)])
			node.SetNode(object)
		}
		pod := testPod("new", "light")
		state := framework.NewCycleState()
		if _, status := d.PreFilter(t.Context(), state, pod, []fwk.NodeInfo{node}); !status.IsSuccess() {
			t.Fatal(status)
		}
		c, err := cycleOf(state)
		if err != nil {
			t.Fatal(err)
		}
		got := d.residentsOf(c, node)
		want := newResidents(d.modes, d.kinds, c, node, nil)
		alike := slices.EqualFunc(got.alike, want.alike, func(a, b residing) bool { return reflect.DeepEqual(a, b) })
		if got.class != want.class || !slices.Equal(got.kinds, want.kinds) || !alike || !reflect.DeepEqual(got.ceiling, want.ceiling) ||
			!reflect.DeepEqual(got.node().Pods, want.node().Pods) {
			t.Fatalf("step %d, %d pods: got %+v, want %+v", step, len(pods), got, want)
		}
	}
}

// What was found of a node holds on where objects change in what does not count, and where anything else changes it is found again.
func TestWhatWasFoundHoldsWhereNothingThatCountsChanges(t *testing.T) {
	t.Parallel()
	replaced := func(t *testing.T, node *framework.NodeInfo, at int, change func(*corev1.Pod)) {
		old := node.Pods[at].GetPod()
		pod := old.DeepCopy()
		change(pod)
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		if err := node.RemovePod(logr.Discard(), old); err != nil {
			t.Fatal(err)
		}
		node.AddPodInfo(info)
	}
	object := func(node *framework.NodeInfo, change func(*corev1.Node)) {
		other := node.Node().DeepCopy()
		change(other)
		node.SetNode(other)
	}
	for name, test := range map[string]struct {
		change func(*testing.T, *framework.NodeInfo)
		holds  bool
	}{
		"a pod that was assumed is bound": {func(t *testing.T, node *framework.NodeInfo) {
			replaced(t, node, 0, func(p *corev1.Pod) { p.Spec.NodeName, p.ResourceVersion = "node", "2" })
		}, true},
		"all pods become ready": {func(t *testing.T, node *framework.NodeInfo) {
			for range node.Pods {
				replaced(t, node, 0, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
			}
		}, true},
		"the node sends a heartbeat": {func(_ *testing.T, node *framework.NodeInfo) {
			object(node, func(n *corev1.Node) { n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady}} })
		}, true},
		"the node has more processors": {func(_ *testing.T, node *framework.NodeInfo) {
			object(node, func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("16") })
		}, false},
		"the node follows another profile": {func(_ *testing.T, node *framework.NodeInfo) {
			object(node, func(n *corev1.Node) { n.Labels = map[string]string{"class": "big"} })
		}, false},
		"a pod follows another profile": {func(t *testing.T, node *framework.NodeInfo) {
			replaced(t, node, 1, func(p *corev1.Pod) { p.Labels["app"] = "heavy" })
		}, false},
		"a pod is resized": {func(t *testing.T, node *framework.NodeInfo) {
			replaced(t, node, 1, func(p *corev1.Pod) { requesting(p, "700m", "") })
		}, false},
		"a pod requests more memory": {func(t *testing.T, node *framework.NodeInfo) {
			replaced(t, node, 1, func(p *corev1.Pod) {
				withMemory(p, "1Gi")
			})
		}, false},
		"a pod goes, and another one of its kind comes": {func(t *testing.T, node *framework.NodeInfo) {
			replaced(t, node, 1, func(p *corev1.Pod) { p.Name, p.UID = "other", "other" })
		}, false},
		"a pod goes, and one of its name comes": {func(t *testing.T, node *framework.NodeInfo) {
			replaced(t, node, 1, func(p *corev1.Pod) { p.UID = "other" })
		}, false},
		"two pods change places and kinds": {func(t *testing.T, node *framework.NodeInfo) {
			for _, app := range []string{"heavy", "light"} { // the second is light, and the third is heavy
				replaced(t, node, 1, func(p *corev1.Pod) { p.Labels["app"] = app })
			}
		}, false},
		"a pod goes": {func(t *testing.T, node *framework.NodeInfo) {
			if err := node.RemovePod(logr.Discard(), node.Pods[2].GetPod()); err != nil {
				t.Fatal(err)
			}
		}, false},
		"a pod comes": {func(t *testing.T, node *framework.NodeInfo) {
			info, err := framework.NewPodInfo(testPod("more", "light"))
			if err != nil {
				t.Fatal(err)
			}
			node.AddPodInfo(info)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			big := nodeProfile(map[string]int{"disk": 2})
			big.Name, big.UID, big.Spec.Selector = "big", "big", &metav1.LabelSelector{MatchLabels: map[string]string{"class": "big"}}
			d := guarded(t, nil, bounded(workload("light", demand("disk", 0.1)), 1.5), workload("heavy", demand("disk", 0.6)), big)
			var pods []*corev1.Pod
			for k, app := range []string{"light", "light", "heavy"} {
				pod := withMemory(requesting(testPod(fmt.Sprint("pod-", k), app), "100m", ""), "137Mi")
				pod.UID = types.UID(pod.Name)
				pods = append(pods, pod)
			}
			node, is := testNode("node", 4, pods...).(*framework.NodeInfo)
			if !is {
				t.Fatal("the node is of another type")
			}
			object(node, func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceMemory] = resource.MustParse("8Gi") })
			costs := countCosts(d)
			find := func() nodeDetails {
				for range 2 { // the first time the node may be new
					filter(t, d, testPod("new", "light"), node)
					scores(t, d, testPod("new", "light"), []fwk.NodeInfo{node})
				}
				return d.known(t, node)
			}
			found := find()
			before, filtered := *costs, found.found[0].filtered
			test.change(t, node)
			now := find()
			if priced, looked := now.prices != found.prices, *costs > before; priced == test.holds || looked == test.holds {
				t.Errorf("priced again: %t, costs found again: %t; want %t", priced, looked, !test.holds)
			}
			if again := now.found[0].filtered; test.holds && again != filtered {
				t.Errorf("filtered again: %+v, was %+v", again, filtered)
			}
			if names := podsOf(node); !slices.Equal(now.residents.Pods, names) {
				t.Errorf("the pods are %v, want %v", now.residents.Pods, names)
			}
		})
	}
}

// BenchmarkGrowingNode reports the time of PreFilter and Filter of pods each of which comes to the one node that there is.
func BenchmarkGrowingNode(b *testing.B) {
	for _, there := range []int{30, 250, 10_000} {
		b.Run(fmt.Sprintf("pods=%d", there), func(b *testing.B) {
			w := bounded(workload("light", demand("cpu", 0.00005), demand("disk", 0.00005)), 500)
			d := guarded(b, nil, w)
			pods := make([]*corev1.Pod, there)
			for n := range pods {
				pods[n] = testPod(fmt.Sprint("pod-", n), "light")
				pods[n].Status.QOSClass = corev1.PodQOSBestEffort // as the API server sets it
			}
			node := testNode("node", 4, pods...)
			d.knows(node)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				pod := testPod(fmt.Sprint("new-", n), "light")
				state := framework.NewCycleState()
				if _, status := d.PreFilter(b.Context(), state, pod, []fwk.NodeInfo{node}); !status.IsSuccess() {
					b.Fatal(status)
				}
				if status := d.Filter(b.Context(), state, pod, node); !status.IsSuccess() {
					b.Fatal(status)
				}
				info, err := framework.NewPodInfo(pod)
				if err != nil {
					b.Fatal(err)
				}
				node.AddPodInfo(info)
			}
		})
	}
}
