package probejob

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/evaluate/installation"
)

// Alive reports whether the pods on a node keep running, and if not, why. The node is nil if there
// is none.
func Alive(node *corev1.Node) (ok bool, why string) {
	switch {
	case node == nil:
		return false, "it is no longer there"
	case !node.DeletionTimestamp.IsZero():
		return false, "it is being deleted"
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return true, ""
		}
	}
	return false, "it is not ready"
}

// Usable reports whether pods that tolerate no taints can be placed on a node, and if
// not, why. The node is nil if there is none.
func Usable(node *corev1.Node) (ok bool, why string) {
	if ok, why := Alive(node); !ok {
		return false, why
	}
	if node.Spec.Unschedulable {
		return false, "it is cordoned"
	}
	for _, taint := range node.Spec.Taints {
		if taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute {
			return false, fmt.Sprintf("it has the taint %s", taint.ToString())
		}
	}
	return true, ""
}

// Quiet reports whether no pods run on a node but those of DaemonSets, static pods, those that the
// cluster itself cannot do without, and Loadline's own, and if not, whose do. A pod that is being
// deleted runs until it is gone. Home is the namespace of Loadline, "" where that is not known.
func Quiet(node string, pods []corev1.Pod, home string) (ok bool, why string) {
	first, more := "", 0
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName != node || Ended(pod) || isPermanent(pod) || isOurs(pod, home) {
			continue
		}
		if first == "" {
			first = pod.Namespace + "/" + pod.Name
		} else {
			more++
		}
	}
	switch {
	case first == "":
		return true, ""
	case more == 0:
		return false, "pod " + first + " runs there"
	default:
		return false, fmt.Sprintf("pod %s and %d more run there", first, more)
	}
}

// isOurs reports whether a pod is one of Loadline's programs. Only operators may make pods in its
// namespace.
func isOurs(pod *corev1.Pod, home string) bool {
	return home != "" && pod.Namespace == home && pod.Labels[installation.PartOfLabel] == installation.PartOf
}

// systemCritical is the priority from which on pods are of the cluster itself, such as
// its name service: that of the class system-cluster-critical.
const systemCritical = 2_000_000_000

// isPermanent reports whether a pod belongs to its node or to the cluster. It will be there
// in production, too.
func isPermanent(pod *corev1.Pod) bool {
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return true
	}
	if p := pod.Spec.Priority; p != nil && *p >= systemCritical {
		return true
	}
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// Ended reports whether all containers of a pod have ended for good.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Some lists the first three of some things, such as nodes with their faults, and gives the number
// of the rest.
func Some(things []string, separator string) string {
	const shown = 3
	if more := len(things) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(things[:shown], separator), more)
	}
	return strings.Join(things, separator)
}
