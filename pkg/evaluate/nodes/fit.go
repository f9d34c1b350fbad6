package nodes

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/report/text"
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
// to what is easy to read: a request of that much is enough.
func Needs(d contention.Demand) int64 {
	const step, rounding = 10, 1e-9
	return int64(math.Ceil(d.Loading*float64(max(1, d.Threads))*1000/step-rounding)) * step
}

// Misfit says why a pod cannot go to a node on which others are, and is empty if it may: by requests, taints, node
// selectors and node affinity. The scheduler looks at more.
func Misfit(pod *corev1.Pod, node *corev1.Node, others []*corev1.Pod) string {
	return NewRoom(node, others).Misfit(pod)
}

// Room is what pods leave of a node, for asking whether it takes any of many others.
type Room struct {
	node *corev1.Node
	pods int
	free corev1.ResourceList
}

// NewRoom returns what some pods leave of a node.
func NewRoom(node *corev1.Node, pods []*corev1.Pod) *Room {
	r := &Room{node: node, pods: len(pods), free: corev1.ResourceList{}}
	for name, amount := range node.Status.Allocatable {
		r.free[name] = amount.DeepCopy()
	}
	for _, p := range pods {
		for name, taken := range resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}) {
			left := r.free[name]
			left.Sub(taken)
			r.free[name] = left
		}
	}
	return r
}

// Misfit says what the function of that name does.
func (r *Room) Misfit(pod *corev1.Pod) string {
	log := logr.Discard()
	spec := &pod.Spec
	cordon := &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if r.node.Spec.Unschedulable && !scheduling.TolerationsTolerateTaint(log, spec.Tolerations, cordon, false) {
		return "it is cordoned"
	}
	if match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(r.node); err != nil || !match {
		return "the pod's node selector or affinity leaves it out"
	}
	repels := func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}
	if taint, there := scheduling.FindMatchingUntoleratedTaint(log, r.node.Spec.Taints, spec.Tolerations, repels, false); there {
		return "the pod does not tolerate its taint " + taint.ToString()
	}
	return r.tooSmall(pod)
}

// tooSmall says of which resource too little is left.
func (r *Room) tooSmall(pod *corev1.Pod) string {
	if most, limited := r.node.Status.Allocatable[corev1.ResourcePods]; limited && int64(r.pods) >= most.Value() {
		return "it runs " + text.Counted(r.pods, "pod") + ", as many as it may"
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		wanted, free := requests[name], r.free[name]
		if wanted.Sign() <= 0 || wanted.Cmp(free) <= 0 {
			continue
		}
		if free.Sign() < 0 { // more was promised than there is
			free = resource.Quantity{}
		}
		return fmt.Sprintf("the pod requests %s of %s, and %s is left", wanted.String(), name, free.String())
	}
	return ""
}
