package probejob

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/slots"
)

// Restore gives, once, the nodes to the profiles that are measured there according to their
// status: a controller that has just started must not let others in between. Calibrations
// run in the namespace. The reader is best a cache that has synced.
func Restore(ctx context.Context, reader client.Reader, nodes *slots.Slots, namespace string) error {
	return nodes.Restore(func(hold func(slots.Owner, ...string)) error { return held(ctx, reader, namespace, hold) })
}

// held has the nodes held of all profiles that are measured.
func held(ctx context.Context, reader client.Reader, namespace string, hold func(slots.Owner, ...string)) error {
	var classes v1alpha1.NodeProfileList
	if err := reader.List(ctx, &classes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing node profiles: %w", err)
	}
	var workloads v1alpha1.WorkloadProfileList
	if err := reader.List(ctx, &workloads, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing workload profiles: %w", err)
	}
	for i := range classes.Items {
		if p := classes.Items[i].Status.Calibrating; p != nil {
			hold(slots.Owner{Namespace: namespace, UID: classes.Items[i].UID}, p.Node)
		}
	}
	for i := range workloads.Items {
		w := &workloads.Items[i]
		if p := w.Status.Measuring; p != nil {
			hold(slots.Owner{Namespace: w.Namespace, UID: w.UID}, p.Node, p.BaselineNode)
		}
	}
	return nil
}

// MeasuredProfile returns the uid of the profile whose measurement a pod on a node is of, "" for any
// other pod. It is the one that the pod's label names, if its Jobs run in the pod's
// namespace, a Job controls the pod, and the profile has the node, or had it a moment ago.
// Who may create pods can set labels and owners: that one has a node is known by the
// profile's status alone, which only the manager writes.
func MeasuredProfile(pod *corev1.Pod, nodes *slots.Slots) types.UID {
	of := types.UID(pod.Labels[MeasurementKey])
	job := metav1.GetControllerOf(pod)
	if of == "" || job == nil || job.Kind != "Job" || !nodes.Has(slots.Owner{Namespace: pod.Namespace, UID: of}, pod.Spec.NodeName) {
		return ""
	}
	return of
}

// Pods are those on a node, by whose they are.
type Pods struct {
	// Own are of the measurement that one asks for, Measured of other measurements, and
	// Foreign of none.
	Own, Measured, Foreign []corev1.Pod
}

// Divide divides pods by whose they are, from the view of a profile.
func Divide(pods []corev1.Pod, profile types.UID, nodes *slots.Slots) Pods {
	var p Pods
	for i := range pods {
		switch MeasuredProfile(&pods[i], nodes) {
		case "":
			p.Foreign = append(p.Foreign, pods[i])
		case profile:
			p.Own = append(p.Own, pods[i])
		default:
			p.Measured = append(p.Measured, pods[i])
		}
	}
	return p
}

// AllEnded reports whether all of some pods have ended for good.
func AllEnded(pods []corev1.Pod) bool {
	return !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return !Ended(&pod) })
}
