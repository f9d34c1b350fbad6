package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

func TestTheCacheHoldsNoPodsThatHaveTerminated(t *testing.T) {
	options := cacheOptions()
	if len(options.ByObject) != 1 {
		t.Fatalf("%d kinds with options, want 1", len(options.ByObject))
	}
	for object, by := range options.ByObject {
		if _, ok := object.(*metav1.PartialObjectMetadata); !ok || object.GetObjectKind().GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("Pod") {
			t.Fatalf("options for %T %v, want the metadata of pods", object, object.GetObjectKind().GroupVersionKind())
		}
		for phase, want := range map[corev1.PodPhase]bool{
			corev1.PodPending: true, corev1.PodRunning: true, corev1.PodUnknown: true, corev1.PodSucceeded: false, corev1.PodFailed: false,
		} {
			if got := by.Field.Matches(fields.Set{"status.phase": string(phase)}); got != want {
				t.Errorf("holds %s pods: %v, want %v", phase, got, want)
			}
		}
	}
}

func TestOfPodsTheCacheHoldsNamesLabelsAndOwners(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	kept := metav1.ObjectMeta{
		Namespace: "shop", Name: "cart-1", UID: "uid", ResourceVersion: "7", Generation: 2, CreationTimestamp: now, DeletionTimestamp: &now,
		Labels: map[string]string{"app": "cart"}, OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "cart-5d4f", UID: "owner"}},
	}
	full := kept.DeepCopy()
	full.Annotations, full.ManagedFields = map[string]string{"large": "text"}, []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	for object, by := range cacheOptions().ByObject {
		got, err := by.Transform(&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: object.GetObjectKind().GroupVersionKind().Kind}, ObjectMeta: *full})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Pod"}, ObjectMeta: kept}, got); diff != "" {
			t.Errorf("unexpected metadata (-want +got):\n%s", diff)
		}
	}
}
