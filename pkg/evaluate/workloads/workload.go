// Package workloads says which workload a pod belongs to, such as a Deployment, and by which labels the pods of a workload can
// be selected.
package workloads

import (
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/text"
)

// Of returns what a pod belongs to, such as Deployment shop/cart: see [Owner].
func Of(pod *corev1.Pod) string {
	kind, name := Owner(pod)
	if kind == "Pod" {
		return "Pod " + text.QualifiedName(pod)
	}
	return kind + " " + pod.Namespace + "/" + name
}

// Owner returns the kind and the name of what a pod belongs to: its controller, and for a ReplicaSet of a Deployment or a Job of a
// CronJob that, by the hash or the minute in its name. A pod that stands alone is its own.
func Owner(pod *corev1.Pod) (kind, name string) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind == "Node" {
		return "Pod", pod.Name
	}
	kind, name = owner.Kind, owner.Name
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
	return kind, name
}

// jobMinute is what a CronJob ends the names of its Jobs with: the minutes since 1970 of the time that they were due.
var jobMinute = regexp.MustCompile(`-\d{8}$`)
