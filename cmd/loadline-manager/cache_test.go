package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

func TestTheCacheHoldsNoPodsThatHaveTerminated(t *testing.T) {
	options := cacheOptions()
	if len(options.ByObject) != 2 {
		t.Fatalf("%d kinds with options, want 2", len(options.ByObject))
	}
	for object, by := range options.ByObject {
		if _, is := object.(*corev1.Node); is {
			continue
		}
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
		if _, is := object.(*metav1.PartialObjectMetadata); !is {
			continue
		}
		got, err := by.Transform(&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: object.GetObjectKind().GroupVersionKind().Kind}, ObjectMeta: *full})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Pod"}, ObjectMeta: kept}, got); diff != "" {
			t.Errorf("unexpected metadata (-want +got):\n%s", diff)
		}
	}
}

func TestOfNodesTheCacheHoldsNeitherImagesNorVolumesNorHeartbeats(t *testing.T) {
	t.Parallel()
	kept := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "worker", UID: "uid", ResourceVersion: "7", Labels: map[string]string{"zone": "a"}},
		Spec:       corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("7500m")},
			Capacity:    corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")},
			NodeInfo:    corev1.NodeSystemInfo{KubeletVersion: "v1.37.2"},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	full := kept.DeepCopy()
	full.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	full.Status.Images = []corev1.ContainerImage{{Names: []string{"registry.example/cart:v1"}}}
	full.Status.VolumesInUse = []corev1.UniqueVolumeName{"volume"}
	full.Status.VolumesAttached = []corev1.AttachedVolume{{Name: "volume"}}
	full.Status.Conditions[0].LastHeartbeatTime, full.Status.Conditions[0].Message = metav1.Now(), "kubelet is posting ready status"
	for object, by := range cacheOptions().ByObject {
		if _, is := object.(*corev1.Node); !is {
			continue
		}
		got, err := by.Transform(full)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&kept, got); diff != "" {
			t.Errorf("unexpected node (-want +got):\n%s", diff)
		}
	}
}
