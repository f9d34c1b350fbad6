package dilation

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// gpuProfile is a NodeProfile of all nodes, on which pods that request nvidia.com/gpu share GPUs.
func gpuProfile(gpus int32, sharing v1alpha1.DeviceSharing, interference ...v1alpha1.DeviceResource) *v1alpha1.NodeProfile {
	p := nodeProfile(nil)
	p.Spec.Devices = []v1alpha1.NodeDevices{{Name: "gpu", Count: &gpus, ExtendedResource: "nvidia.com/gpu", Sharing: sharing, Interference: interference}}
	return p
}

// trainPod is a pod that requests a GPU.
func trainPod(name, app string) *corev1.Pod {
	pod := testPod(name, app)
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}
	return pod
}

func TestAPodGoesWhereADeviceIsFree(t *testing.T) {
	for name, profile := range map[string]*v1alpha1.NodeProfile{
		"time-sliced": gpuProfile(2, v1alpha1.SharingTimeSliced),
		"concurrent":  gpuProfile(2, v1alpha1.SharingConcurrent, "gpu-bandwidth"),
	} {
		d := testPlugin(t, profile, interfering(workload("train", demand("gpu", 0.8)), "gpu-bandwidth", 1))
		full := testNode("full", 8, trainPod("a", "train"), trainPod("b", "train"))
		half := testNode("half", 8, trainPod("c", "train"), testPod("d", "train"), testPod("e", "train")) // two request no GPU
		raw, normalized := scores(t, d, trainPod("new", "train"), []fwk.NodeInfo{full, half})
		if normalized[1].Score != fwk.MaxScore || normalized[0].Score >= fwk.MaxScore || raw[0].Score == raw[1].Score {
			t.Errorf("%s: scores %v, want the node with a free GPU first", name, normalized)
		}
		raw, _ = scores(t, d, testPod("new", "train"), []fwk.NodeInfo{full, half})
		if raw[0].Score != raw[1].Score {
			t.Errorf("%s: a pod that requests no GPU costs %v", name, raw)
		}
	}
}

func TestSignaturesTellApartWhoRequestsADevice(t *testing.T) {
	d := testPlugin(t, gpuProfile(2, v1alpha1.SharingTimeSliced), workload("train", demand("gpu", 0.8)))
	with, _ := d.SignPod(t.Context(), trainPod("a", "train"))
	without, _ := d.SignPod(t.Context(), testPod("a", "train"))
	if fmt.Sprintf("%+v", with) == fmt.Sprintf("%+v", without) {
		t.Errorf("a pod with a GPU and one without share %v", with)
	}
}

// BenchmarkScoreDevices is BenchmarkScore for nodes with eight GPUs that each of their pods may use.
func BenchmarkScoreDevices(b *testing.B) {
	for _, sharing := range []v1alpha1.DeviceSharing{v1alpha1.SharingExclusive, v1alpha1.SharingTimeSliced, v1alpha1.SharingConcurrent} {
		b.Run(string(sharing), func(b *testing.B) {
			d, nodes, pod := deviceCluster(b, sharing)
			benchScore(b, d, pod, nodes)
		})
	}
}

// deviceCluster returns a plugin, 500 nodes with 16 cores, 8 GPUs and 30 pods each, and one more pod.
func deviceCluster(tb testing.TB, sharing v1alpha1.DeviceSharing) (*Dilation, []fwk.NodeInfo, *corev1.Pod) {
	d := testPlugin(tb, gpuProfile(8, sharing, "gpu-bandwidth"),
		interfering(workload("train", demand("cpu", 0.2), demand("gpu", 0.7), demand("disk", 0.05)), "gpu-bandwidth", 1))
	nodes := make([]fwk.NodeInfo, 500)
	for n := range nodes {
		pods := make([]*corev1.Pod, benchPods)
		for k := range pods {
			pods[k] = trainPod(fmt.Sprintf("pod-%d-%d", n, k), "train")
		}
		nodes[n] = testNode(fmt.Sprintf("node-%d", n), 16, pods...)
	}
	return d, nodes, trainPod("candidate", "train")
}

func TestScoringDevicesAllocatesNothing(t *testing.T) {
	d, nodes, pod := deviceCluster(t, v1alpha1.SharingConcurrent)
	nodes = nodes[:2]
	scores(t, d, pod, nodes)
	state := framework.NewCycleState()
	d.PreScore(t.Context(), state, pod, nodes)
	if n := testing.AllocsPerRun(100, func() { d.Score(t.Context(), state, pod, nodes[1]) }); n != 0 {
		t.Errorf("a score allocates %v times", n)
	}
}

// Pods of one profile and with equal requests for cores, of which only some request a GPU, are not judged and priced alike.
func TestPodsThatRequestADeviceAreOfAnotherKind(t *testing.T) {
	d := guarded(t, nil, gpuProfile(1, v1alpha1.SharingTimeSliced), bounded(workload("train", demand("gpu", 1)), 1.5))
	node := testNode("node", 8, trainPod("there", "train"))
	for _, first := range []bool{true, false} { // each kind comes first once, on a node that is not known yet
		d.nodes = newNodeTable()
		for _, requests := range []bool{first, !first} {
			pod := testPod("new", "train")
			if requests {
				pod = trainPod("new", "train")
			}
			statuses, _ := filter(t, d, pod, node)
			raw, _ := scores(t, d, pod, []fwk.NodeInfo{node})
			if taken, cost := statuses[0].IsSuccess(), decodeCost(raw[0].Score); taken == requests || (cost > 0) != requests {
				t.Errorf("it requests a GPU: %t, where one of a pod is busy. It is taken: %t, at a cost of %v", requests, taken, cost)
			}
		}
	}
}
