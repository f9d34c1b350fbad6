// Package made lets controllers see the Jobs and pods that they made themselves, and these alone:
// few of those of a large cluster concern them.
//
// They are found by a label. Where Loadline's admission policies hold, no one else can set it;
// where they do not, any user can who may create a pod. So the label proves nothing: controllers
// check the objects against data that users cannot write, the status of their own objects.
package made

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
)

// Cache returns a cache of the Jobs and pods that have a label, whatever its value, with as
// much of them as controllers read, and of their labels and annotations that one and the
// further ones. The manager runs it.
func Cache(mgr ctrl.Manager, label string, further ...string) (cache.Cache, error) {
	has, err := labels.NewRequirement(label, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	c, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Scheme = mgr.GetScheme()
		o.Cache.DefaultLabelSelector = labels.NewSelector().Add(*has)
		o.Cache.DefaultTransform = append(keys{label, batchv1.ControllerUidLabel, batchv1.JobCompletionIndexAnnotation}, further...).trim
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the cache of objects with the label %s: %w", label, err)
	}
	return c.GetCache(), mgr.Add(c)
}
