package main

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/controllers/interned"
)

// cacheOptions keep only what the controllers look at: of pods that have not terminated the names, labels and owners, of nodes neither their
// images nor their volumes, of all objects no managed fields.
func cacheOptions() cache.Options {
	pods := &metav1.PartialObjectMetadata{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			pods: {Field: fields.AndSelectors(
				fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
				fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
			), Transform: slimMetadata()},
			&corev1.Node{}: {Transform: slimNode()},
		},
	}
}

// slimMetadata returns what keeps of metadata what names an object, its labels and its owners, which those of one template share.
func slimMetadata() toolscache.TransformFunc {
	var values interned.Values
	return func(object any) (any, error) {
		if o, is := object.(*metav1.PartialObjectMetadata); is {
			o.ObjectMeta = metav1.ObjectMeta{
				Namespace: interned.Share(&values, o.Namespace), Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, Generation: o.Generation,
				CreationTimestamp: o.CreationTimestamp, DeletionTimestamp: o.DeletionTimestamp,
				Labels: interned.Share(&values, o.Labels), OwnerReferences: interned.Share(&values, o.OwnerReferences),
			}
		}
		return object, nil
	}
}

// slimNode returns what leaves out of a node its images, its volumes and what its conditions say besides, which heartbeats change. Nodes that
// are alike share how large they are.
func slimNode() toolscache.TransformFunc {
	var values interned.Values
	return func(object any) (any, error) {
		o, is := object.(*corev1.Node)
		if !is {
			return object, nil
		}
		o.ManagedFields = nil
		o.Status = corev1.NodeStatus{
			Allocatable: interned.Share(&values, o.Status.Allocatable), Capacity: interned.Share(&values, o.Status.Capacity),
			Conditions: slices.Clone(o.Status.Conditions), NodeInfo: o.Status.NodeInfo,
		}
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			*c = corev1.NodeCondition{Type: c.Type, Status: c.Status}
		}
		return o, nil
	}
}
