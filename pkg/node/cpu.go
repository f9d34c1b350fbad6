package node

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/loading"
)

// FreeCPU returns how much CPU of a node some pods leave unrequested; below 0 where they request more than there is.
func FreeCPU(node *corev1.Node, pods []*corev1.Pod) resource.Quantity {
	free := node.Status.Allocatable.Cpu().DeepCopy()
	for _, p := range pods {
		request, _ := cgroup.CPU(p)
		free.Sub(*request)
	}
	return free
}

// Needs returns the CPU that a pod of that demand there uses while it does not wait, in thousandths of a core, rounded up
// to a number that is easy to read: a request of that much is enough.
func Needs(d loading.Demand) int64 {
	const step, rounding = 10, 1e-9
	return int64(math.Ceil(d.Loading*float64(max(1, d.Threads))*1000/step-rounding)) * step
}
