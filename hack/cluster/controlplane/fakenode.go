package controlplane

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The platform of fake nodes.
const (
	fakeOS   = "linux"
	fakeArch = "amd64"
)

// fakeNode returns a copy of node with what AddNodes fills in. It is ready from birth: kwok would make it ready a
// moment later, but in that moment the controllers may taint it, and take many more writes to undo that.
func fakeNode(node *corev1.Node) *corev1.Node {
	node = node.DeepCopy()
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, fakeNodeAnnotation, fakeNodeValue)
	node.Labels = withDefaults(node.Labels, map[string]string{
		corev1.LabelOSStable:      fakeOS,
		corev1.LabelArchStable:    fakeArch,
		"beta.kubernetes.io/os":   fakeOS,
		"beta.kubernetes.io/arch": fakeArch,
	})
	if node.Name != "" {
		node.Labels = withDefaults(node.Labels, map[string]string{corev1.LabelHostname: node.Name})
	}

	status := &node.Status
	status.Allocatable = withDefaults(status.Allocatable, corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("32"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	})
	status.Capacity = withDefaults(status.Capacity, status.Allocatable)
	status.NodeInfo.OperatingSystem, status.NodeInfo.Architecture = fakeOS, fakeArch
	if status.NodeInfo.KubeletVersion == "" {
		status.NodeInfo.KubeletVersion = "fake"
	}
	if len(status.Addresses) == 0 {
		status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: loopback}}
	}
	if !slices.ContainsFunc(status.Conditions, isReadyCondition) {
		now := metav1.Now()
		status.Conditions = append(status.Conditions, corev1.NodeCondition{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "FakeNode", Message: "played by kwok",
			LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	return node
}

// withDefaults returns the defaults overlaid with what is given.
func withDefaults[M ~map[K]V, K comparable, V any](given, defaults M) M {
	all := maps.Clone(defaults)
	maps.Copy(all, given)
	return all
}

// readyForPods reports whether a node is ready and the controllers have taken note of that.
func readyForPods(node *corev1.Node) bool {
	ready := slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return isReadyCondition(condition) && condition.Status == corev1.ConditionTrue
	})
	tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == corev1.TaintNodeNotReady
	})
	return ready && !tainted
}

func isReadyCondition(condition corev1.NodeCondition) bool {
	return condition.Type == corev1.NodeReady
}
