package main

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// followPods does for pods what a kubelet does and KWOK does not, until ctx ends: the statuses of those that run say that their containers
// have what they ask for, and those that are deleted while they run have failed, without which a Job does not let go of them.
func (c *cluster) followPods(ctx context.Context) {
	ticks := time.NewTicker(500 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		for _, pod := range c.history.running(lagging) {
			_ = c.Status().Patch(ctx, followed(pod), client.MergeFrom(pod)) // what fails is tried again
		}
		for _, pod := range c.history.those(cutShort) {
			after := pod.DeepCopy()
			after.Status.Phase = corev1.PodFailed
			_ = c.Status().Patch(ctx, after, client.MergeFrom(pod))
		}
	}
}

// lagging reports whether the status of a pod is not that of what its containers ask for.
func lagging(pod *corev1.Pod) bool {
	return !equality.Semantic.DeepEqual(pod.Status, followed(pod).Status)
}

// followed returns a pod whose containers have what they ask for.
func followed(pod *corev1.Pod) *corev1.Pod {
	after := pod.DeepCopy()
	for i := range after.Status.ContainerStatuses {
		for k := range after.Spec.Containers {
			if s := &after.Status.ContainerStatuses[i]; s.Name == after.Spec.Containers[k].Name {
				s.Resources = after.Spec.Containers[k].Resources.DeepCopy()
			}
		}
	}
	return after
}

// cutShort reports whether a pod of a Job is deleted on its node before it has ended.
func cutShort(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.Spec.NodeName != "" && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) &&
		pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
}
