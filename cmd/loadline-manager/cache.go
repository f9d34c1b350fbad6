package main

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/controllers/interned"
)

// cacheOptions keep of nodes neither their images nor their volumes, and of all objects no managed fields. Pods are in a cache of their own, see
// package pods.
func cacheOptions() cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject:         map[client.Object]cache.ByObject{&corev1.Node{}: {Transform: slimNode()}},
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
