package dilation

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// podGroup returns the name of the group that a pod belongs to, in its namespace, "" for none.
func podGroup(pod *corev1.Pod) string {
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return *g.PodGroupName
	}
	return ""
}

// holdsSibling reports whether another pod of a pod's group is the last that came to
// a node. The cycle of a group assumes its members there, one after the other, and
// leaves the generation of the NodeInfo as it was: what is kept of that generation
// must not be used then, nor be made of those members.
func holdsSibling(pod *corev1.Pod, node fwk.NodeInfo) bool {
	group := podGroup(pod)
	if group == "" || len(node.GetPods()) == 0 {
		return false
	}
	last := node.GetPods()[len(node.GetPods())-1].GetPod()
	return podGroup(last) == group && last.Namespace == pod.Namespace
}
