package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// countedKinds are the kinds of objects that are counted: Loadline's, and those that it makes or that are made for its sake.
var countedKinds = []schema.GroupVersionKind{
	v1alpha1.GroupVersion.WithKind("WorkloadProfile"), v1alpha1.GroupVersion.WithKind("NodeProfile"), v1alpha1.GroupVersion.WithKind("PoolPlan"),
	v1alpha1.GroupVersion.WithKind("ShareTree"), v1alpha1.GroupVersion.WithKind("TraceReplay"),
	v1alpha1.GroupVersion.WithKind("RemediationPolicy"), v1alpha1.GroupVersion.WithKind("Remediation"),
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Node"},
	{Version: "v1", Kind: "Namespace"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
}

// sampleObjects samples how many objects of each kind there are. The API server counts them: a list of one says how many remain.
func (s *sampler) sampleObjects(ctx context.Context, to *sample) error {
	var errs []error
	for _, kind := range countedKinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := s.cluster.List(ctx, list, client.Limit(1)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", kind.Kind, err))
			continue
		}
		n := len(list.Items)
		if remaining := list.RemainingItemCount; remaining != nil {
			n += int(*remaining)
		}
		to.Values[name("cluster", "", "objects: "+plural(kind.Kind))] = float64(n)
	}
	return errors.Join(errs...)
}

// plural returns the plural of the name of a kind.
func plural(kind string) string {
	if stem, is := strings.CutSuffix(kind, "cy"); is {
		return stem + "cies"
	}
	return kind + "s"
}
