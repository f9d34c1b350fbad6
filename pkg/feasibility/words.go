package feasibility

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	"loadline.dev/loadline/pkg/text"
)

// words are those in which a plugin refuses a pod.
func words(status *fwk.Status) string { return strings.Join(status.Reasons(), ", ") }

// wordsOf returns the words in which a plugin refuses a node, with its finding there where one can act on
// that.
func wordsOf(status *fwk.Status, pod *corev1.Pod, node fwk.NodeInfo) string {
	switch status.Plugin() {
	case names.NodeResourcesFit:
		return cmp.Or(insufficient(pod, node), words(status))
	case names.TaintToleration:
		return words(status) + untolerated(pod, node.Node())
	default:
		return words(status)
	}
}

// insufficient says of which resources a node has too little left for a pod, and how much that is.
func insufficient(pod *corev1.Pod, node fwk.NodeInfo) string {
	var parts []string
	options := noderesources.ResourceRequestsOptions{EnablePodLevelResources: utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources)}
	for _, r := range noderesources.Fits(pod, node, nil, options) {
		if r.ResourceName == corev1.ResourcePods {
			parts = append(parts, fmt.Sprintf("%s: it runs %s, as many as it may", r.Reason, text.Count(r.Used)))
			continue
		}
		left := max(0, r.Capacity-r.Used) // more may have been promised than there is
		parts = append(parts, fmt.Sprintf("%s: the pod requests %s, and %s is left", r.Reason, amount(r.ResourceName, r.Requested), amount(r.ResourceName, left)))
	}
	return strings.Join(parts, "; ")
}

// amount writes how much of a resource that is, in the unit in which the scheduler counts it.
func amount(name corev1.ResourceName, value int64) string {
	switch name {
	case corev1.ResourceCPU:
		return resource.NewMilliQuantity(value, resource.DecimalSI).String()
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return resource.NewQuantity(value, resource.BinarySI).String()
	default:
		return resource.NewQuantity(value, resource.DecimalSI).String()
	}
}

// untolerated names the first taint that keeps a pod away.
func untolerated(pod *corev1.Pod, node *corev1.Node) string {
	repels := func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}
	taint, there := scheduling.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, pod.Spec.Tolerations, repels, false)
	if !there {
		return ""
	}
	return ": " + taint.ToString()
}
