package disruption

import (
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/workloads"
)

// Input is what the rules depend on. Its objects must not change while they are in use.
type Input struct {
	// Pods are all pods of the cluster.
	Pods []corev1.Pod
	// Budgets are all PodDisruptionBudgets. Of one without a status, as in a file, it is computed.
	Budgets []policyv1.PodDisruptionBudget
	// Jobs are those of pods that may be evicted. Of a Job that is not here, its notes say what is not known.
	Jobs []batchv1.Job
	// Owners are objects that control pods or others that do, such as ReplicaSets, as far as they are known. Without them a ReplicaSet
	// belongs to a Deployment, and a Job to a CronJob, by its name.
	Owners []metav1.Object
	// VerticalPodAutoscalers and HorizontalPodAutoscalers are all of them.
	VerticalPodAutoscalers   []VerticalPodAutoscaler
	HorizontalPodAutoscalers []autoscalingv2.HorizontalPodAutoscaler

	// Allowed are workloads, as [workloads.Of] writes them, whose pods may be evicted although they are critical, in kube-system or the
	// only ready replica.
	Allowed sets.Set[string]
	// Now is the time of the question, and MinAge how old a pod is at least that may be evicted or resized; 0 is any.
	Now    time.Time
	MinAge time.Duration
	// NoResize means that the API server does not offer the subresource pods/resize.
	NoResize bool
	// StaticCPUs are the nodes whose kubelet has the CPU manager policy static.
	StaticCPUs sets.Set[string]
}

// Verdict says whether a pod may be disrupted, and at what cost. The zero value is that it may, at none.
type Verdict struct {
	// Refused is the reason against it, a sentence without its end; "" where there is none.
	Refused string
	// Notes say what it costs and what else follows, each a sentence without its end.
	Notes []string
	// LostSeconds is for how long the work ran that is lost: that of a pod that runs to completion and has to start again.
	LostSeconds float64
	// Migrates means that the pod is of a virtual machine that migrates live when it is evicted. The Eviction API answers 429 then
	// until it is elsewhere.
	Migrates bool
	// Restarts are the containers that a resize restarts.
	Restarts []string
}

// Rules answer questions about the pods of a cluster.
type Rules struct {
	in     Input
	ready  map[owner]int // how many pods are ready
	jobs   map[types.NamespacedName]*batchv1.Job
	owners map[types.UID]metav1.Object
	// By their namespaces.
	budgets map[string][]*budget
	// By what they are for, as workloads.Of writes it.
	vertical   map[string]*VerticalPodAutoscaler
	horizontal map[string]*autoscalingv2.HorizontalPodAutoscaler
}

// New returns the rules. Its cost is that of the pods once, and of those of a namespace for each PodDisruptionBudget without a status.
// An error names the PodDisruptionBudget, the field and the value that cannot be read.
func New(in *Input) (*Rules, error) {
	r := &Rules{
		in: *in, ready: map[owner]int{}, jobs: map[types.NamespacedName]*batchv1.Job{}, owners: map[types.UID]metav1.Object{},
		vertical: map[string]*VerticalPodAutoscaler{}, horizontal: map[string]*autoscalingv2.HorizontalPodAutoscaler{},
	}
	for i := range in.Pods {
		if p := &in.Pods[i]; ready(p) {
			r.ready[ownerOf(p)]++
		}
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		r.jobs[types.NamespacedName{Namespace: j.Namespace, Name: j.Name}] = j
		r.owners[j.UID] = j
	}
	for _, o := range in.Owners {
		r.owners[o.GetUID()] = o
	}
	for i := range in.VerticalPodAutoscalers {
		if v := &in.VerticalPodAutoscalers[i]; v.Spec.TargetRef != nil {
			r.vertical[nameOf(v.Spec.TargetRef.Kind, v.Namespace, v.Spec.TargetRef.Name)] = v
		}
	}
	for i := range in.HorizontalPodAutoscalers {
		h := &in.HorizontalPodAutoscalers[i]
		r.horizontal[nameOf(h.Spec.ScaleTargetRef.Kind, h.Namespace, h.Spec.ScaleTargetRef.Name)] = h
	}
	var err error
	r.budgets, err = budgetsOf(in)
	return r, err
}

// owner is what controls pods: by its UID, or by its kind and name where that is not known.
type owner struct {
	uid                   types.UID
	kind, namespace, name string
}

// ownerOf returns the controller of a pod, the zero value for none.
func ownerOf(pod *corev1.Pod) owner {
	ref := metav1.GetControllerOfNoCopy(pod)
	switch {
	case ref == nil:
		return owner{}
	case ref.UID != "":
		return owner{uid: ref.UID}
	default:
		return owner{kind: ref.Kind, namespace: pod.Namespace, name: ref.Name}
	}
}

func nameOf(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// workloads returns what a pod belongs to, from its controller upwards, as workloads.Of writes it.
func (r *Rules) workloads(pod *corev1.Pod) []string {
	names := []string{workloads.Of(pod)}
	seen := sets.New[types.UID]()
	for ref := metav1.GetControllerOfNoCopy(pod); ref != nil; {
		names = append(names, nameOf(ref.Kind, pod.Namespace, ref.Name))
		above, known := r.owners[ref.UID]
		if !known || seen.Has(ref.UID) {
			break
		}
		seen.Insert(ref.UID)
		ref = metav1.GetControllerOfNoCopy(above)
	}
	return names
}

// allowed reports whether the user allows to evict a pod against the rules that protect its workload.
func (r *Rules) allowed(pod *corev1.Pod) bool {
	return slices.ContainsFunc(r.workloads(pod), r.in.Allowed.Has) || consents(pod)
}

// ready reports whether a pod is ready, or would be: one that was written by hand has no status.
func ready(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || cgroup.Ended(pod) || pod.Spec.NodeName == "" {
		return false
	}
	if pod.Status.Phase == "" && len(pod.Status.Conditions) == 0 {
		return true
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// gone says why there is nothing of a pod to disrupt, "" where there is.
func gone(pod *corev1.Pod) string {
	switch {
	case pod.Spec.NodeName == "":
		return "it is on no node"
	case cgroup.Ended(pod):
		return "it has ended"
	case pod.DeletionTimestamp != nil:
		return "it is being deleted"
	default:
		return ""
	}
}

// began returns when a pod came to its node, zero where that is not known.
func began(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}
