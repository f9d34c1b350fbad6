package node_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// What other projects make of a pod, and no answer takes into account, is said; of what Kubernetes itself makes of it nothing is.
func TestWhatAManifestSaysAndNoAnswerTakesIntoAccountIsSaid(t *testing.T) {
	t.Parallel()
	requests := func(name, amount string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(amount)}
		}
	}
	shared := v1alpha1.NodeProfile{Spec: v1alpha1.NodeProfileSpec{Selector: &metav1.LabelSelector{}, Devices: []v1alpha1.NodeDevices{{
		Name: "gpu", Count: new(int32(2)), ExtendedResource: "nvidia.com/gpu.shared", Sharing: v1alpha1.SharingTimeSliced,
	}}}}
	whole := v1alpha1.NodeProfile{Spec: v1alpha1.NodeProfileSpec{Selector: &metav1.LabelSelector{}, Devices: []v1alpha1.NodeDevices{{Name: "gpu", Count: new(int32(2)), ExtendedResource: "nvidia.com/gpu"}}}}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		nodes  *v1alpha1.NodeProfile
		want   string // empty: nothing
	}{
		"CPU":                          {requests("cpu", "2"), nil, ""},
		"memory":                       {requests("memory", "2Gi"), nil, ""},
		"a whole device":               {requests("nvidia.com/gpu", "1"), nil, ""},
		"two whole devices":            {requests("nvidia.com/gpu", "2"), &whole, ""},
		"Koordinator's batch CPU":      {requests("kubernetes.io/batch-cpu", "2500"), nil, "requests 2500m CPU as kubernetes.io/batch-cpu of Koordinator, which Kubernetes does not count as CPU"},
		"Koordinator's mid CPU":        {requests("kubernetes.io/mid-cpu", "2k"), nil, "requests 2 CPU as kubernetes.io/mid-cpu of Koordinator"},
		"Katalyst's reclaimed CPU":     {requests("resource.katalyst.kubewharf.io/reclaimed_millicpu", "1k"), nil, "requests 1 CPU as resource.katalyst.kubewharf.io/reclaimed_millicpu of Katalyst"},
		"none of it":                   {requests("kubernetes.io/batch-cpu", "0"), nil, ""},
		"a part of a device":           {requests("nvidia.com/gpu.shared", "1"), nil, "requests 1 of nvidia.com/gpu.shared, a part of a device, and no NodeProfile here has devices of that extendedResource"},
		"a part of another's device":   {requests("aliyun.com/gpu-mem", "8"), &shared, "requests 8 of aliyun.com/gpu-mem, a part of a device"},
		"a part of a device of ours":   {requests("nvidia.com/gpu.shared", "1"), &shared, ""},
		"two parts of devices of ours": {requests("nvidia.com/gpu.shared", "2"), &shared, "requests 2 of nvidia.com/gpu.shared, which are shared: it is taken to use one"},
		"a claim of a device":          {func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }, nil, "claims devices in spec.resourceClaims"},
		"processors by Koordinator":    {func(p *corev1.Pod) { p.Labels = map[string]string{"koordinator.sh/qosClass": "LSR"} }, nil, "has the label koordinator.sh/qosClass: LSR, by which Koordinator gives it processors of its own"},
		"shared ones by Koordinator":   {func(p *corev1.Pod) { p.Labels = map[string]string{"koordinator.sh/qosClass": "LS"} }, nil, ""},
		"a limit that CRI-O lifts": {func(p *corev1.Pod) {
			p.Annotations = map[string]string{"cpu-quota.crio.io": "disable"}
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
		}, nil, "has the annotation cpu-quota.crio.io: disable, by which CRI-O lifts its CPU limit"},
		"no limit to lift":    {func(p *corev1.Pod) { p.Annotations = map[string]string{"cpu-quota.crio.io": "disable"} }, nil, ""},
		"an overhead to come": {func(p *corev1.Pod) { p.Spec.RuntimeClassName = new("kata") }, nil, "has the runtimeClassName kata, whose overhead, if it has any, is not in the manifest"},
		"an overhead that is in": {func(p *corev1.Pod) {
			p.Spec.RuntimeClassName, p.Spec.Overhead = new("kata"), corev1.ResourceList{"cpu": resource.MustParse("250m")}
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
			pod.Namespace, pod.Name = "shop", "a"
			test.change(pod)
			var class *profile.NodeClass
			if test.nodes != nil {
				var errs field.ErrorList
				if class, errs = profile.NewNodeClass(test.nodes); len(errs) > 0 {
					t.Fatal(errs)
				}
			}
			got := node.Caveats(pod, class)
			if test.want == "" {
				if len(got) > 0 {
					t.Errorf("got %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Pod != "shop/a" || !strings.HasPrefix(got[0].What, test.want) {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
}
