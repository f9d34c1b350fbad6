package made

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// maxAnnotation is how long an annotation is that is kept, in bytes: longer than any that
// controllers write.
const maxAnnotation = 16 << 10

// keys are those of the labels and annotations that controllers read.
type keys []string

// trim keeps the parts of a Job or a pod that controllers read, so that users' data takes little
// memory: a pod template may have a megabyte. Of an object that cannot be a controller's it keeps
// only the name, without the label: a Job that no object of Loadline controls, and a pod that no
// Job does. That is no proof, for owners can be forged as labels can.
func (keys keys) trim(object any) (any, error) {
	switch o := object.(type) {
	case *batchv1.Job:
		job := &batchv1.Job{TypeMeta: o.TypeMeta, ObjectMeta: keys.meta(&o.ObjectMeta, ofLoadline(o)), Status: o.Status}
		job.Spec.ActiveDeadlineSeconds = o.Spec.ActiveDeadlineSeconds
		job.Spec.Template.Annotations = keys.of(o.Spec.Template.Annotations)
		return job, nil
	case *corev1.Pod:
		pod := &corev1.Pod{TypeMeta: o.TypeMeta, ObjectMeta: keys.meta(&o.ObjectMeta, ofJob(o)), Status: o.Status}
		pod.Spec.NodeName, pod.Spec.Resources = o.Spec.NodeName, o.Spec.Resources
		pod.Spec.Containers, pod.Spec.InitContainers = containers(o.Spec.Containers), containers(o.Spec.InitContainers)
		return pod, nil
	default:
		return object, nil
	}
}

// ofLoadline reports whether an object of Loadline controls a Job.
func ofLoadline(job *batchv1.Job) bool {
	owner := metav1.GetControllerOf(job)
	if owner == nil {
		return false
	}
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && group.Group == v1alpha1.GroupVersion.Group
}

// ofJob reports whether a Job controls a pod.
func ofJob(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "Job"
}

// meta returns the metadata of an object that may be a controller's, or may not.
func (keys keys) meta(o *metav1.ObjectMeta, may bool) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion}
	if !may {
		return kept
	}
	kept.Labels, kept.Annotations = keys.of(o.Labels), keys.of(o.Annotations)
	kept.OwnerReferences = []metav1.OwnerReference{*metav1.GetControllerOf(o)}
	kept.CreationTimestamp, kept.DeletionTimestamp, kept.DeletionGracePeriodSeconds = o.CreationTimestamp, o.DeletionTimestamp, o.DeletionGracePeriodSeconds
	return kept
}

// of returns those of some labels or annotations that controllers read.
func (keys keys) of(all map[string]string) map[string]string {
	kept := map[string]string{}
	for _, key := range keys {
		if value, has := all[key]; has && len(value) <= maxAnnotation {
			kept[key] = value
		}
	}
	return kept
}

// containers returns the fields that say why a container does not start, or has ended.
func containers(all []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(all))
	for i := range all {
		kept[i] = corev1.Container{Name: all[i].Name, Image: all[i].Image, Resources: all[i].Resources, RestartPolicy: all[i].RestartPolicy}
	}
	return kept
}
