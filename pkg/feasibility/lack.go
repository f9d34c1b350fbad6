package feasibility

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/component-helpers/storage/volume"
)

// known holds the objects that pods refer to, as far as they are known.
type known struct {
	namespaces corelisters.NamespaceLister
	claims     corelisters.PersistentVolumeClaimLister
	volumes    corelisters.PersistentVolumeLister
	classes    storagelisters.StorageClassLister
	csiNodes   storagelisters.CSINodeLister
}

func newKnown(factory informers.SharedInformerFactory) *known {
	core, storage := factory.Core().V1(), factory.Storage().V1()
	return &known{
		namespaces: core.Namespaces().Lister(), claims: core.PersistentVolumeClaims().Lister(), volumes: core.PersistentVolumes().Lister(),
		classes: storage.StorageClasses().Lister(), csiNodes: storage.CSINodes().Lister(),
	}
}

// byNamespaces reports whether some of the terms select namespaces by their labels.
func byNamespaces(terms []corev1.PodAffinityTerm) bool {
	for i := range terms {
		if s := terms[i].NamespaceSelector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
			return true
		}
	}
	return false
}

// lack says in words what the filters would have to know of a pod and do not, "" for nothing.
type lack struct {
	*known

	// volumes are those of PersistentVolumeClaims, devices those of ResourceClaims.
	volumes, devices string
	// labels are those of namespaces.
	labels string
	// attached is the name of a volume of a CSI driver, of which a node can attach a limited number, "" for none.
	attached string
}

// lackOf returns the lack of a pod, which others may keep away by the labels of its namespace.
func (k *known) lackOf(pod *corev1.Pod, repelled bool) *lack {
	l := &lack{known: k}
	if len(pod.Spec.ResourceClaims) > 0 {
		l.devices = "where there are devices for its ResourceClaims is not looked at"
	}
	if _, err := k.namespaces.Get(pod.Namespace); err != nil && (repelled || selectsNamespaces(pod)) {
		l.labels = "the labels of namespaces are not known, by which pods are kept apart or together"
	}
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; l.volumes == "" {
			l.volumes = l.lackOfVolume(pod, v)
		}
	}
	return l
}

// selectsNamespaces reports whether the pod itself is kept apart or together with others by the labels of their namespaces.
func selectsNamespaces(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	return a != nil && (a.PodAffinity != nil && byNamespaces(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) ||
		a.PodAntiAffinity != nil && byNamespaces(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution))
}

// lackOfVolume returns the lack of a volume.
func (l *lack) lackOfVolume(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.Ephemeral != nil:
		return fmt.Sprintf("where its volume %s would be made anew is not known", v.Name)
	case v.PersistentVolumeClaim == nil:
		return ""
	}
	claim, err := l.claims.PersistentVolumeClaims(pod.Namespace).Get(v.PersistentVolumeClaim.ClaimName)
	if err != nil {
		return fmt.Sprintf("PersistentVolumeClaim %s/%s is not known", pod.Namespace, v.PersistentVolumeClaim.ClaimName)
	}
	if claim.Spec.VolumeName == "" {
		class := volume.GetPersistentVolumeClaimClass(claim)
		if _, err := l.classes.Get(class); err != nil && class != "" {
			return fmt.Sprintf("StorageClass %s of PersistentVolumeClaim %s/%s is not known", class, claim.Namespace, claim.Name)
		}
		return ""
	}
	pv, err := l.known.volumes.Get(claim.Spec.VolumeName)
	if err != nil {
		return fmt.Sprintf("PersistentVolume %s of PersistentVolumeClaim %s/%s is not known", claim.Spec.VolumeName, claim.Namespace, claim.Name)
	}
	if pv.Spec.CSI != nil {
		l.attached = pv.Name
	}
	return ""
}

// attaching returns what is missing to know how many volumes a node can attach.
func (l *lack) attaching(node string) string {
	if l.attached == "" {
		return ""
	}
	if _, err := l.csiNodes.Get(node); err != nil {
		return fmt.Sprintf("CSINode %s is not known, so neither is whether it can attach PersistentVolume %s", node, l.attached)
	}
	return ""
}
