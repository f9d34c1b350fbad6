package input

import (
	"cmp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/apis/decode"
	"loadline.dev/loadline/pkg/evaluate/manifest"
)

// Workloads returns the kinds of a [manifest.Workload], which are read into [Objects.Workloads]: a workload with one of its
// pods. A job has the number of pods of its parallelism, and a workload without a number has one; a DaemonSet has one on each
// node.
func Workloads() []Kind {
	one := int32(1)
	return []Kind{
		workload(corev1.SchemeGroupVersion, "Pod", func(o *corev1.Pod) (*corev1.PodTemplateSpec, *int32) {
			return &corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}, &one
		}),
		workload(appsv1.SchemeGroupVersion, "Deployment", func(o *appsv1.Deployment) (*corev1.PodTemplateSpec, *int32) {
			return &o.Spec.Template, cmp.Or(o.Spec.Replicas, &one)
		}),
		workload(appsv1.SchemeGroupVersion, "StatefulSet", func(o *appsv1.StatefulSet) (*corev1.PodTemplateSpec, *int32) {
			return &o.Spec.Template, cmp.Or(o.Spec.Replicas, &one)
		}),
		workload(appsv1.SchemeGroupVersion, "DaemonSet", func(o *appsv1.DaemonSet) (*corev1.PodTemplateSpec, *int32) {
			return &o.Spec.Template, nil
		}),
		workload(appsv1.SchemeGroupVersion, "ReplicaSet", func(o *appsv1.ReplicaSet) (*corev1.PodTemplateSpec, *int32) {
			return &o.Spec.Template, cmp.Or(o.Spec.Replicas, &one)
		}),
		workload(batchv1.SchemeGroupVersion, "Job", func(o *batchv1.Job) (*corev1.PodTemplateSpec, *int32) {
			return &o.Spec.Template, cmp.Or(o.Spec.Parallelism, &one)
		}),
		workload(batchv1.SchemeGroupVersion, "CronJob", func(o *batchv1.CronJob) (*corev1.PodTemplateSpec, *int32) {
			return &o.Spec.JobTemplate.Spec.Template, cmp.Or(o.Spec.JobTemplate.Spec.Parallelism, &one)
		}),
	}
}

// workload returns a kind of workloads, given where such a manifest has a pod, and how many it asks for.
func workload[T any, P interface {
	*T
	metav1.Object
}](version schema.GroupVersion, name string, pods func(P) (*corev1.PodTemplateSpec, *int32)) Kind {
	return Kind{version.WithKind(name), false, func(all *Objects, object *decode.Value, decoder *decode.Decoder) error {
		var o T
		if err := decoder.Into(object, &o); err != nil {
			return err
		}
		template, replicas := pods(&o)
		w := workloadOf(name, P(&o), template, replicas)
		if pod, is := any(&o).(*corev1.Pod); is {
			w.Pod.Status = pod.Status
		}
		all.Workloads = append(all.Workloads, w)
		return nil
	}}
}

// workloadOf returns a workload with one of its pods.
func workloadOf(kind string, object metav1.Object, template *corev1.PodTemplateSpec, replicas *int32) manifest.Workload {
	pod := corev1.Pod{Spec: template.Spec}
	pod.Namespace, pod.Name, pod.Labels = object.GetNamespace(), cmp.Or(object.GetName(), strings.TrimSuffix(object.GetGenerateName(), "-")), template.Labels
	pod.Annotations = template.Annotations
	w := manifest.Workload{Kind: kind, Pod: pod, Replicas: replicas, UID: object.GetUID()}
	if owner := metav1.GetControllerOf(object); owner != nil {
		w.Owner = owner.UID
	}
	return w
}
