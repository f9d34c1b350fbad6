package slaorder

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// newEndedInformer returns an informer of the pods that succeeded, each of which counts
// once, and what reports whether those that had ended before it was started have been
// counted. The scheduler's own informer leaves them out. Pods that failed are not counted:
// no order of the queue would have helped them, and a class of pods that always fail
// would go before all others forever.
//
// It keeps of each pod what it is counted by, until the pod is deleted.
func newEndedInformer(client kubernetes.Interface, known *classes) (cache.SharedIndexInformer, cache.InformerSynced, error) {
	informer := coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, 0, cache.Indexers{}, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("status.phase", string(corev1.PodSucceeded)).String()
	})
	if err := informer.SetTransform(slim); err != nil {
		return nil, nil, err
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if pod, ok := obj.(*corev1.Pod); ok {
			if end := endOf(pod); !end.IsZero() {
				known.done(pod, end.Sub(pod.CreationTimestamp.Time), end)
			}
		}
	}})
	if err != nil {
		return nil, nil, err
	}
	return informer, registration.HasSynced, nil
}

// slim returns what pods are counted by.
func slim(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil // a deletion that was missed
	}
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		Labels: pod.Labels, CreationTimestamp: pod.CreationTimestamp,
	}}
	if end := endOf(pod); !end.IsZero() {
		ended := corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(end)}
		kept.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &ended}}}
	}
	return kept, nil
}

// endOf returns when the last container of a pod ended, the zero time if none says so.
func endOf(pod *corev1.Pod) time.Time {
	var end time.Time
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && t.FinishedAt.After(end) {
			end = t.FinishedAt.Time
		}
	}
	return end
}
