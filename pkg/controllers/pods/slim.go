package pods

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/controllers/interned"
)

// slimPod is what is kept of a pod: what identifies it, its profile and its workload, determines its share of a processor and says where its
// work counter is.
type slimPod struct {
	namespace, name, version, node, address, mirrorHash string

	uid    types.UID
	labels map[string]string
	owners []metav1.OwnerReference
	common *corev1.Pod // what those of its template have

	planned *planned // nil where nothing plans
}

// meta returns what is kept of the metadata, apart from annotations.
func (p *slimPod) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, UID: p.uid, ResourceVersion: p.version, Labels: p.labels, OwnerReferences: p.owners}
}

// GetObjectMeta implements [metav1.ObjectMetaAccessor], by which informers identify objects.
func (p *slimPod) GetObjectMeta() metav1.Object {
	meta := p.meta()
	return &meta
}

// identified returns what is kept of a pod itself, with values that pods share.
func identified(pod *corev1.Pod, values *interned.Values) *slimPod {
	return &slimPod{
		namespace: interned.Share(values, pod.Namespace), name: pod.Name, version: pod.ResourceVersion, node: interned.Share(values, pod.Spec.NodeName),
		address: pod.Status.PodIP, mirrorHash: pod.Annotations[corev1.MirrorPodAnnotationKey],
		uid: pod.UID, labels: interned.Share(values, pod.Labels), owners: interned.Share(values, pod.OwnerReferences),
	}
}

// withShare has a slim pod keep what determines its share of a processor, of the pod.
func (p *slimPod) withShare(pod *corev1.Pod, values *interned.Values) *slimPod {
	p.common = interned.Share(values, &corev1.Pod{
		Spec: corev1.PodSpec{
			HostNetwork: pod.Spec.HostNetwork, Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources,
			Containers: containers(pod.Spec.Containers), InitContainers: containers(pod.Spec.InitContainers),
		},
		Status: corev1.PodStatus{
			Phase: pod.Status.Phase, QOSClass: pod.Status.QOSClass, Resources: pod.Status.Resources,
			ContainerStatuses:     containerStatuses(pod.Status.ContainerStatuses),
			InitContainerStatuses: containerStatuses(pod.Status.InitContainerStatuses),
		},
	})
	return p
}

// pod returns the pod, which must not be changed, as far as it is kept in any case.
func (p *slimPod) pod() corev1.Pod {
	pod := *p.common
	pod.ObjectMeta = p.meta()
	if p.mirrorHash != "" {
		pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: p.mirrorHash}
	}
	pod.Spec.NodeName, pod.Status.PodIP = p.node, p.address
	return pod
}

func containers(all []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range all {
		kept = append(kept, corev1.Container{Name: all[i].Name, Resources: all[i].Resources, RestartPolicy: all[i].RestartPolicy})
	}
	return kept
}

// containerStatuses keeps those that say which resources a container has.
func containerStatuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for i := range all {
		if all[i].Resources != nil {
			kept = append(kept, corev1.ContainerStatus{Name: all[i].Name, Resources: all[i].Resources})
		}
	}
	return kept
}
