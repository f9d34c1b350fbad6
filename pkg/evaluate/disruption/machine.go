package disruption

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What KubeVirt makes for a virtual machine: a pod, and a PodDisruptionBudget where its eviction strategy is another one than None,
// which the pod itself does not say. See docs/handling-eviction-requests.md of KubeVirt.
const (
	appLabel         = "kubevirt.io"
	launcher         = "virt-launcher"
	domainAnnotation = "kubevirt.io/domain"
	machineInstance  = "VirtualMachineInstance"
)

// machineOf returns the name of the virtual machine of a pod, "" for none.
func machineOf(pod *corev1.Pod) string {
	if pod.Labels[appLabel] != launcher {
		return ""
	}
	name := pod.Annotations[domainAnnotation]
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil && ref.Kind == machineInstance {
		name = ref.Name
	}
	return pod.Namespace + "/" + cmp.Or(name, pod.Name)
}

// migratesLive reports whether the pod is of a virtual machine that migrates when it is evicted: KubeVirt guards it.
func migratesLive(pod *corev1.Pod, guards []*budget) bool {
	return machineOf(pod) != "" && slices.ContainsFunc(guards, (*budget).ofMachine)
}
