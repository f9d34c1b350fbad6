package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
	for _, by := range cacheOptions().ByObject {
		got, err := by.Transform(full)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&kept, got); diff != "" {
			t.Errorf("unexpected node (-want +got):\n%s", diff)
		}
	}
}
