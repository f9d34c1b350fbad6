package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// Annotations of pods by which people tell tools that evict what to leave alone.
const (
	// https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
	safeToEvict             = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	safeToEvictLocalVolumes = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
	// https://karpenter.sh/docs/reference/annotations: "true", or how long after its start a pod is protected.
	doNotDisrupt = "karpenter.sh/do-not-disrupt"
	// https://github.com/kubernetes-sigs/descheduler#pod-evictions: whatever their values.
	evict              = "descheduler.alpha.kubernetes.io/evict"
	preferNoEviction   = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
	evictionInProgress = "descheduler.alpha.kubernetes.io/eviction-in-progress"
)

// systemCritical is the least priority of the classes system-cluster-critical and system-node-critical.
const systemCritical = 2_000_000_000

// Evict says whether a pod may be evicted, to be made anew elsewhere, and what is lost by that.
func (r *Rules) Evict(pod *corev1.Pod) Verdict {
	guards := r.budgetsFor(pod)
	migrates := migratesLive(pod, guards)
	for _, why := range []string{gone(pod), node.Stays(pod), uncontrolled(pod), r.annotated(pod), r.young(pod), r.critical(pod)} {
		if why != "" {
			return Verdict{Refused: why}
		}
	}
	v := Verdict{Migrates: migrates}
	if job := r.jobOf(pod); job != nil {
		if v.Refused = job.refuses(pod); v.Refused != "" {
			return v
		}
		v.Notes = append(v.Notes, job.notes(pod)...)
	} else if !migrates {
		v.Refused = r.alone(pod)
	}
	v.Refused = cmp.Or(v.Refused, refusedBy(guards, pod))
	if v.Refused != "" {
		return Verdict{Refused: v.Refused}
	}
	if migrates {
		v.Notes = append(v.Notes, fmt.Sprintf("virtual machine %s migrates live: the Eviction API answers 429 until it is on another node", machineOf(pod)))
		return v
	}
	if v.LostSeconds = r.work(pod); v.LostSeconds > 0 {
		v.Notes = append([]string{"it starts again, and loses the work of " + lasting(v.LostSeconds)}, v.Notes...)
	}
	v.Notes = append(v.Notes, leftBehind(pod)...)
	return v
}

func uncontrolled(pod *corev1.Pod) string {
	if metav1.GetControllerOfNoCopy(pod) == nil {
		return "no controller would make it anew"
	}
	return ""
}

// consents reports whether a pod has the annotation by which the descheduler may evict it whatever else protects it. Its value does
// not matter there; "false" is not taken for consent all the same.
func consents(pod *corev1.Pod) bool {
	value, is := pod.Annotations[evict]
	return is && value != "false"
}

// annotated says which annotation of a pod asks not to evict it.
func (r *Rules) annotated(pod *corev1.Pod) string {
	if _, is := pod.Annotations[evictionInProgress]; is {
		return "its eviction is in progress: it has the annotation " + evictionInProgress
	}
	if pod.Annotations[safeToEvict] == "false" {
		return fmt.Sprintf("its annotation %s is false", safeToEvict)
	}
	if value, is := pod.Annotations[doNotDisrupt]; is {
		protected, err := time.ParseDuration(value)
		switch since := began(pod); {
		case value == "true":
			return fmt.Sprintf("its annotation %s is true", doNotDisrupt)
		case err == nil && protected > 0 && (since.IsZero() || r.in.Now.Before(since.Add(protected))):
			return fmt.Sprintf("its annotation %s protects it for %s from its start", doNotDisrupt, duration.HumanDuration(protected))
		}
	}
	if _, is := pod.Annotations[preferNoEviction]; is && !consents(pod) {
		return "it has the annotation " + preferNoEviction
	}
	return ""
}

// young says that a pod is too young to be disrupted. Of one whose age is not known, it does not.
func (r *Rules) young(pod *corev1.Pod) string {
	since := began(pod)
	if age := r.in.Now.Sub(since); !since.IsZero() && r.in.MinAge > 0 && age < r.in.MinAge {
		return fmt.Sprintf("it started %s ago: no pod is disrupted in its first %s", duration.HumanDuration(max(0, age)), duration.HumanDuration(r.in.MinAge))
	}
	return ""
}

// critical says why a pod is critical for the cluster.
func (r *Rules) critical(pod *corev1.Pod) string {
	if r.allowed(pod) {
		return ""
	}
	switch class := pod.Spec.PriorityClassName; {
	case pod.Namespace == metav1.NamespaceSystem:
		return fmt.Sprintf("it is in namespace %s, and %s is not allowed by name", metav1.NamespaceSystem, workloads.Of(pod))
	case class == "system-cluster-critical" || class == "system-node-critical":
		return fmt.Sprintf("its priority class is %s, and %s is not allowed by name", class, workloads.Of(pod))
	case pod.Labels[installation.PartOfLabel] == installation.PartOf:
		return fmt.Sprintf("it is a part of Loadline, and %s is not allowed by name", workloads.Of(pod))
	case pod.Spec.Priority != nil && *pod.Spec.Priority >= systemCritical:
		return fmt.Sprintf("its priority is %s, that of critical pods, and %s is not allowed by name", text.Count(int64(*pod.Spec.Priority)), workloads.Of(pod))
	default:
		return ""
	}
}

// alone says that no other ready replica would serve meanwhile.
func (r *Rules) alone(pod *corev1.Pod) string {
	n := r.ready[ownerOf(pod)]
	if n >= 2 || r.allowed(pod) {
		return ""
	}
	if machine := machineOf(pod); machine != "" {
		return fmt.Sprintf("virtual machine %s would be shut down: it has no PodDisruptionBudget of KubeVirt, as one has that migrates live", machine)
	}
	return fmt.Sprintf("%s has %s: it needs two, or to be allowed by name", workloads.Of(pod), text.Counted(n, "ready replica"))
}

// leftBehind says which local storage of a pod is lost or stays behind, but for what an annotation says is safe to. It counts as
// the cluster autoscaler counts it: what is in memory does not.
func leftBehind(pod *corev1.Pod) (notes []string) {
	if pod.Annotations[safeToEvict] == "true" {
		return nil
	}
	safe := strings.Split(pod.Annotations[safeToEvictLocalVolumes], ",")
	var lost, left []string
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case slices.Contains(safe, v.Name):
		case v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumMemory:
			lost = append(lost, v.Name)
		case v.HostPath != nil:
			left = append(left, v.Name)
		}
	}
	if len(lost) > 0 {
		notes = append(notes, "it loses what is in emptyDir "+text.Names(lost))
	}
	if len(left) > 0 {
		notes = append(notes, fmt.Sprintf("what is in hostPath %s stays on %s", text.Names(left), pod.Spec.NodeName))
	}
	return notes
}
