package statuses

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Labels returns the labels of the objects of a kind, from a cache of their metadata.
// They are the cache's own: the caller must not change them.
func Labels(ctx context.Context, c client.Reader, kind schema.GroupVersionKind, options ...client.ListOption) ([]labels.Set, error) {
	objects := metav1.PartialObjectMetadataList{}
	objects.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := c.List(ctx, &objects, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("listing %ss: %w", strings.ToLower(kind.Kind), err)
	}
	all := make([]labels.Set, len(objects.Items))
	for i := range objects.Items {
		all[i] = objects.Items[i].Labels
	}
	return all, nil
}
