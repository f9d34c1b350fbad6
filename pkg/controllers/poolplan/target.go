package poolplan

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// target holds the state of a pool's scale target.
type target struct {
	object *unstructured.Unstructured
	scale  *unstructured.Unstructured // its /scale, an autoscaling/v1 Scale
	// replicas is how many it was asked to have, nil if that is not known.
	replicas *int32
	// problem is why it cannot be scaled, nil if it can.
	problem *problem
}

// problem is why a pool cannot be scaled: the reason and message of a condition.
type problem struct{ reason, message string }

// findTarget reads a pool's scale target, and whether another controller scales it.
func (r *Reconciler) findTarget(ctx context.Context, ref *v1alpha1.ScaleTarget) (*target, error) {
	t := &target{object: &unstructured.Unstructured{}}
	t.object.SetAPIVersion(ref.APIVersion)
	t.object.SetKind(ref.Kind)
	t.object.SetNamespace(ref.Namespace)
	t.object.SetName(ref.Name)
	if err := r.readScale(ctx, t); err != nil {
		t.problem = problemOf(err, t.object)
		return t, ctx.Err()
	}
	var scalers autoscalingv2.HorizontalPodAutoscalerList
	if err := r.Client.List(ctx, &scalers, client.InNamespace(ref.Namespace)); err != nil {
		return nil, fmt.Errorf("listing HorizontalPodAutoscalers: %w", err)
	}
	for i := range scalers.Items {
		other := scalers.Items[i].Spec.ScaleTargetRef
		kind := schema.FromAPIVersionAndKind(other.APIVersion, other.Kind).GroupKind()
		if other.Name == ref.Name && kind == t.object.GroupVersionKind().GroupKind() {
			t.problem = &problem{
				v1alpha1.ReasonHPAConflict,
				fmt.Sprintf("the HorizontalPodAutoscaler %s/%s scales %s too; delete it, or take the pool out of the plan", ref.Namespace, scalers.Items[i].Name, describe(t.object)),
			}
		}
	}
	return t, nil
}

// readScale reads the scale of a target.
func (r *Reconciler) readScale(ctx context.Context, t *target) error {
	t.scale = &unstructured.Unstructured{}
	t.scale.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
	if err := r.Client.SubResource("scale").Get(ctx, t.object, t.scale); err != nil {
		return err
	}
	replicas, _, err := unstructured.NestedInt64(t.scale.Object, "spec", "replicas") // 0 is left out
	if err != nil {
		return err
	}
	t.replicas = new(int32(replicas))
	return nil
}

// describe names an object: Deployment shop/checkout.
func describe(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
}

// attempts is how often a target is asked to have a number of replicas whose other fields change meanwhile.
const attempts = 4

// scale asks a target to have a number of replicas. It fails when another client has
// changed that in the meantime. Other changes, such as those of the status while pods
// come and go, do not matter.
func (r *Reconciler) scale(ctx context.Context, t *target, replicas int32) error {
	known := *t.replicas
	for attempt := 1; ; attempt++ {
		scale := t.scale.DeepCopy()
		if err := unstructured.SetNestedField(scale.Object, int64(replicas), "spec", "replicas"); err != nil {
			return err
		}
		err := r.Client.SubResource("scale").Update(ctx, t.object, client.WithSubResourceBody(scale))
		if !apierrors.IsConflict(err) || attempt == attempts {
			return err
		}
		if failed := r.readScale(ctx, t); failed != nil {
			return failed
		}
		if *t.replicas != known {
			return err
		}
	}
}

// problemOf says why the scale of an object cannot be read or written.
func problemOf(err error, o *unstructured.Unstructured) *problem {
	switch {
	case meta.IsNoMatchError(err):
		return &problem{v1alpha1.ReasonTargetNotFound, fmt.Sprintf("the cluster has no kind %s of %s", o.GetKind(), o.GetAPIVersion())}
	case apierrors.IsNotFound(err):
		return &problem{v1alpha1.ReasonTargetNotFound, fmt.Sprintf("%s does not exist or cannot be scaled: %v", describe(o), err)}
	case apierrors.IsForbidden(err):
		return &problem{v1alpha1.ReasonTargetForbidden, fmt.Sprintf("%v; let it, as the ClusterRole loadline-manager-scaler does for kinds of the group apps", err)}
	default:
		return &problem{v1alpha1.ReasonTargetUnavailable, fmt.Sprintf("scaling %s: %v", describe(o), err)}
	}
}
