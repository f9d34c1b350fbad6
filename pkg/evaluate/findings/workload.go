package findings

import (
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/evaluate"
)

// WorkloadOf returns what a pod belongs to, such as Deployment shop/cart: its controller, and for a ReplicaSet of a
// Deployment or a Job of a CronJob that, by the hash or the minute in its name. A pod that stands alone is its own: Pod shop/cart-debug.
func WorkloadOf(pod *corev1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind == "Node" {
		return "Pod " + evaluate.QualifiedName(pod)
	}
	kind, name := owner.Kind, owner.Name
	if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; kind == "ReplicaSet" && hash != "" {
		if deployment, is := strings.CutSuffix(name, "-"+hash); is {
			kind, name = "Deployment", deployment
		}
	}
	if kind == "Job" {
		if minute := jobMinute.FindStringIndex(name); minute != nil {
			kind, name = "CronJob", name[:minute[0]]
		}
	}
	return kind + " " + pod.Namespace + "/" + name
}

// jobMinute is what a CronJob ends the names of its Jobs with: the minutes since 1970 of the time that they were due.
var jobMinute = regexp.MustCompile(`-\d{8}$`)

// movable reports whether a pod can be moved: what controls it would make another one, and not on the same node.
func movable(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind != "Node" && owner.Kind != "DaemonSet"
}
