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
		want := newResidents(d.modes, d.kinds, c, node.Node(), c.snapshot.Follow(podsOf(node)), nil)
		if got.Node.Class != want.Node.Class || !reflect.DeepEqual(got.Node.Pods, want.Node.Pods) || !slices.Equal(got.kinds, want.kinds) || !slices.Equal(got.shares, want.shares) ||
			!reflect.DeepEqual(got.ceiling, want.ceiling) {
			t.Fatalf("step %d, %d pods: got %+v, want %+v", step, len(pods), got, want)
		}
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
