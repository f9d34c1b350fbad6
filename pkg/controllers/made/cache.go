// Package made lets controllers see the objects that they made themselves, and these
// alone: of the Jobs and pods of a large cluster few are any of their business.
package made

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
)

// Cache returns a cache of the objects that have a label, whatever its value. The
// manager runs it.
func Cache(mgr ctrl.Manager, label string) (cache.Cache, error) {
	has, err := labels.NewRequirement(label, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	c, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Scheme = mgr.GetScheme()
		o.Cache.DefaultLabelSelector = labels.NewSelector().Add(*has)
		o.Cache.DefaultTransform = cache.TransformStripManagedFields()
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the cache of objects with the label %s: %w", label, err)
	}
	return c.GetCache(), mgr.Add(c)
}
