package node

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// Caveat is a field of a pod's manifest about how it uses its node that no answer takes into account.
type Caveat struct {
	// Pod is the name of the pod, or of its workload.
	Pod string `json:"pod"`
	// What describes the field, as the rest of a sentence that begins with the name.
	What string `json:"what"`
}

// Extended resources by which other projects hand out CPU that Kubernetes does not count: neither in requests nor in weights and
// quotas, which these projects set themselves. All are in thousandths of a core.
var sharedCPU = map[corev1.ResourceName]string{
	"kubernetes.io/batch-cpu": "Koordinator", "kubernetes.io/mid-cpu": "Koordinator", "koordinator.sh/batch-cpu": "Koordinator",
	"katalyst.kubewharf.io/reclaimed_millicpu": "Katalyst", "resource.katalyst.kubewharf.io/reclaimed_millicpu": "Katalyst",
}

// sharedDevices are extended resources that are parts of devices which several pods share.
var sharedDevices = []corev1.ResourceName{
	"nvidia.com/gpu.shared", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores",
	"aliyun.com/gpu-mem", "aliyun.com/gpu-core.percentage",
	"koordinator.sh/gpu", "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory", "koordinator.sh/gpu-memory-ratio", "koordinator.sh/gpu.shared",
	"tencent.com/vcuda-core", "tencent.com/vcuda-memory",
	"volcano.sh/gpu-memory", "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores",
	"gpu.intel.com/millicores",
}

const (
	koordinatorQoS = "koordinator.sh/qosClass"
	crioQuota      = "cpu-quota.crio.io"
)

// Caveats returns the fields of a pod's manifest that no answer takes into account on a node of a class, nil for one that
// follows no NodeProfile.
func Caveats(pod *corev1.Pod, class *profile.NodeClass) (caveats []Caveat) {
	name := text.QualifiedName(pod)
	add := func(format string, args ...any) {
		caveats = append(caveats, Caveat{name, fmt.Sprintf(format, args...)})
	}
	asked := extended(pod)
	for _, resourceName := range slices.Sorted(maps.Keys(asked)) {
		amount := asked[resourceName]
		by, isCPU := sharedCPU[resourceName]
		switch {
		case isCPU:
			add("requests %s CPU as %s of %s, which Kubernetes does not count as CPU: it is taken for a pod that does not request them, with the weight and the limit of that; a WorkloadProfile can say what it uses",
				resource.NewMilliQuantity(amount.Value(), resource.DecimalSI), resourceName, by)
		case class.Shares(resourceName) && amount.CmpInt64(1) > 0:
			add("requests %s of %s, which are shared: it is taken to use one", amount.String(), resourceName)
		case slices.Contains(sharedDevices, resourceName) && !class.Advertises(resourceName):
			add("requests %s of %s, a part of a device, and no NodeProfile here has devices of that extendedResource: it is taken to meet no other pod there", amount.String(), resourceName)
		}
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		add("claims devices in spec.resourceClaims: it is taken to meet no other pod there")
	}
	if qos := pod.Labels[koordinatorQoS]; qos == "LSE" || qos == "LSR" {
		add("has the label %s: %s, by which Koordinator gives it processors of its own: it is taken to share them", koordinatorQoS, qos)
	}
	if _, limit := cgroup.CPU(pod); limit != nil && pod.Annotations[crioQuota] == "disable" {
		add("has the annotation %s: disable, by which CRI-O lifts its CPU limit: that is taken to hold", crioQuota)
	}
	if class := pod.Spec.RuntimeClassName; class != nil && pod.Spec.Overhead == nil && pod.Spec.NodeName == "" {
		add("has the runtimeClassName %s, whose overhead, if it has any, is not in the manifest", *class)
	}
	return caveats
}

// extended returns the extended resources that a pod requests, or is limited to, which for these is the same.
func extended(pod *corev1.Pod) corev1.ResourceList {
	all := corev1.ResourceList{}
	for _, list := range []corev1.ResourceList{
		resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{}), resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}),
	} {
		for name, amount := range list {
			if amount.Sign() > 0 {
				all[name] = amount
			}
		}
	}
	return all
}
