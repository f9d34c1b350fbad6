package baselines_test

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
)

// none is a request that is not made.
const none = -1

// amounts are of a pod's requests, or of what a node has.
type amounts struct {
	milliCPU, memory int64 // thousandths of a core, bytes
}

func (a amounts) list() corev1.ResourceList {
	list := corev1.ResourceList{}
	if a.milliCPU != none {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(a.milliCPU, resource.DecimalSI)
	}
	if a.memory != none {
		list[corev1.ResourceMemory] = *resource.NewQuantity(a.memory, resource.BinarySI)
	}
	return list
}

func (a amounts) pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: a.list()}}}},
	}
}

// node is a node of some cluster and what the pods there request.
type node struct {
	allocatable amounts
	pods        []amounts
	limit       int // of pods
}

// info returns the node as kube-scheduler has it.
func (n node) info(name string) fwk.NodeInfo {
	pods := make([]*corev1.Pod, len(n.pods))
	for i, p := range n.pods {
		pods[i] = p.pod(name + "-" + strconv.Itoa(i))
	}
	info := framework.NewNodeInfo(pods...)
	allocatable := n.allocatable.list()
	allocatable[corev1.ResourcePods] = *resource.NewQuantity(int64(n.limit), resource.DecimalSI)
	info.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: allocatable}})
	return info
}

// kubeScheduler is NodeResourcesFit of kube-scheduler's default profile.
type kubeScheduler struct{ *noderesources.Fit }

func newKubeScheduler(t *testing.T) kubeScheduler {
	t.Helper()
	defaults, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range defaults.Profiles[0].PluginConfig {
		if c.Name != noderesources.Name {
			continue
		}
		plugin, err := noderesources.NewFit(t.Context(), c.Args, nil, feature.Features{EnablePodLevelResources: true})
		if err != nil {
			t.Fatal(err)
		}
		fit := plugin.(*noderesources.Fit) //nolint:errcheck,forcetypeassert // it is what NewFit makes
		if fit.ScoreExtensions() != nil {
			t.Fatal("scores are normalized now: normalize them in best, too")
		}
		return kubeScheduler{fit}
	}
	t.Fatalf("the default profile has no arguments of %s", noderesources.Name)
	return kubeScheduler{}
}

// best returns on which nodes a pod fits, and which of those have the highest score.
func (k kubeScheduler) best(t *testing.T, nodes []node, pod amounts) (fits, best []int) {
	t.Helper()
	state, p := framework.NewCycleState(), pod.pod("pod")
	infos := make([]fwk.NodeInfo, len(nodes))
	for i, n := range nodes {
		infos[i] = n.info("node-" + strconv.Itoa(i))
	}
	if _, status := k.PreFilter(t.Context(), state, p, infos); !status.IsSuccess() {
		t.Fatal(status.AsError())
	}
	if status := k.PreScore(t.Context(), state, p, infos); !status.IsSuccess() {
		t.Fatal(status.AsError())
	}
	highest := int64(-1)
	for i, info := range infos {
		if !k.Filter(t.Context(), state, p, info).IsSuccess() {
			continue
		}
		fits = append(fits, i)
		score, status := k.Score(t.Context(), state, p, info)
		if !status.IsSuccess() {
			t.Fatal(status.AsError())
		}
		if score > highest {
			highest, best = score, nil
		}
		if score == highest {
			best = append(best, i)
		}
	}
	return fits, best
}
