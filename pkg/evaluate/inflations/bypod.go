package inflations

import (
	"cmp"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/profile"
)

// OfPod is how much slower a pod serves a unit of work, by the status of its profile.
type OfPod struct {
	// Unit is what is counted, such as request.
	Unit string
	// Inflation is how many times as many CPU seconds a unit takes as when quiet, above 0.
	Inflation float64
	// Beside are the neighbours that go with it, as far as their names are known, and Adds is what they add, 0 without.
	Beside []string
	Adds   float64
}

// elsewhere is a neighbour of which no pod is among those that are known.
const elsewhere = "a pod of another namespace"

// Of returns how much slower a pod serves by the status of its profile, nil if that is not known: by what was read of the pod, else, where the
// status is of one class of nodes, by that. Pods are those that neighbours are looked up in, by their UIDs.
func Of(p *v1alpha1.WorkloadProfile, name string, pods map[string]*corev1.Pod) *OfPod {
	if p.Spec.Work == nil || !meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionWorkObserved) {
		return nil
	}
	o, inflation := entryOf(p.Status.Work, name)
	if inflation == nil {
		return nil
	}
	of := &OfPod{Unit: p.Spec.Work.Unit, Inflation: inflation.AsApproximateFloat64()}
	if !(of.Inflation > 0) {
		return nil
	}
	of.Beside = appendNamed(nil, o, pods)
	if a := o.Neighbours.Adds; a != nil && a.Value != nil {
		of.Adds = a.Value.AsApproximateFloat64()
	}
	return of
}

// GoWith returns the neighbours that inflations go with by the status of a profile, on nodes of any class, as [OfPod.Beside] has them.
func GoWith(p *v1alpha1.WorkloadProfile, pods map[string]*corev1.Pod) (named []string) {
	if p.Spec.Work == nil || !meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionWorkObserved) {
		return nil
	}
	for i := range p.Status.Work {
		named = appendNamed(named, &p.Status.Work[i], pods)
	}
	return named
}

// appendNamed appends the neighbours that an observation names, each once.
func appendNamed(named []string, o *v1alpha1.WorkObservation, pods map[string]*corev1.Pod) []string {
	for _, n := range o.Neighbours.Named {
		neighbour := cmp.Or(n.Workload, elsewhere)
		if pod := pods[n.PodUID]; pod != nil {
			neighbour = workloads.Of(pod)
		}
		if !slices.Contains(named, neighbour) {
			named = append(named, neighbour)
		}
	}
	return named
}

// ByUID returns pods by their UIDs.
func ByUID(pods []corev1.Pod) map[string]*corev1.Pod {
	by := make(map[string]*corev1.Pod, len(pods))
	for i := range pods {
		by[string(pods[i].UID)] = &pods[i]
	}
	return by
}

// entryOf returns the part of a status that is about a pod, and the inflation of the pod; nil where there is none.
func entryOf(status []v1alpha1.WorkObservation, name string) (*v1alpha1.WorkObservation, *resource.Quantity) {
	for i := range status {
		for k := range status[i].Slowest {
			if status[i].Slowest[k].Name == name {
				return &status[i], status[i].Slowest[k].Inflation
			}
		}
	}
	if len(status) == 1 && status[0].Inflation != nil {
		return &status[0], status[0].Inflation.Value
	}
	return nil, nil
}

// ByPod returns a function that says of pods how much slower they serve, by the profiles that they follow. Pods are all that are known.
func ByPod(profiles []v1alpha1.WorkloadProfile, pods []corev1.Pod) func(*corev1.Pod) *OfPod {
	if !slices.ContainsFunc(profiles, func(p v1alpha1.WorkloadProfile) bool { return len(p.Status.Work) > 0 }) {
		return func(*corev1.Pod) *OfPod { return nil }
	}
	index, named := profile.NewIndex(nil, logr.Discard()), map[types.NamespacedName]*v1alpha1.WorkloadProfile{}
	for i := range profiles {
		index.OnAdd(&profiles[i], true)
		named[types.NamespacedName{Namespace: profiles[i].Namespace, Name: profiles[i].Name}] = &profiles[i]
	}
	byUID, snapshot := ByUID(pods), index.Snapshot()
	return func(pod *corev1.Pod) *OfPod {
		w := snapshot.Workload(pod)
		if w == nil {
			return nil
		}
		return Of(named[types.NamespacedName{Namespace: w.Namespace, Name: w.Name}], pod.Name, byUID)
	}
}
