package controlplane

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFakeNodeFillsInOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	given := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "arm", Labels: map[string]string{corev1.LabelArchStable: "arm64"}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}},
	}
	before := given.DeepCopy().String()
	node := fakeNode(given)

	if given.String() != before {
		t.Error("the node given was changed")
	}
	for label, want := range map[string]string{corev1.LabelArchStable: "arm64", corev1.LabelOSStable: "linux", corev1.LabelHostname: "arm"} {
		if node.Labels[label] != want {
			t.Errorf("label %s is %q, want %q", label, node.Labels[label], want)
		}
	}
	for name, want := range map[corev1.ResourceName]string{corev1.ResourceCPU: "4", corev1.ResourceMemory: "256Gi", corev1.ResourcePods: "110"} {
		allocatable, capacity := node.Status.Allocatable[name], node.Status.Capacity[name]
		if allocatable.String() != want || capacity.String() != want {
			t.Errorf("%s: allocatable %v, capacity %v, want %s", name, &allocatable, &capacity, want)
		}
	}
	if node.Annotations[fakeNodeAnnotation] != fakeNodeValue || !readyForPods(node) {
		t.Errorf("the node is not one for kwok, or not ready: %v", node)
	}
}

func TestANodeWithTheNotReadyTaintIsNotReadyForPods(t *testing.T) {
	t.Parallel()
	node := fakeNode(&corev1.Node{})
	node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	if readyForPods(node) {
		t.Error("it passes for ready")
	}
}

func TestLinkerFlagsSetTheVersionOfKubernetes(t *testing.T) {
	t.Parallel()
	flags, err := linkerFlags("v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"version.gitVersion=v1.36.3", "version.gitMajor=1", "version.gitMinor=36"} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q is missing from %q", want, flags)
		}
	}
	if _, err := linkerFlags("latest"); err == nil || !strings.Contains(err.Error(), `"latest"`) {
		t.Errorf("a version that is none: got %v, want an error that names it", err)
	}
}
