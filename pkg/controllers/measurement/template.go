package measurement

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// gatherTemplate reads the template of the target's pods, or says why there is none.
func (r *Reconciler) gatherTemplate(ctx context.Context, in *input, how freshness) error {
	target := in.settings.target
	if target == nil {
		return nil
	}
	template, err := r.podTemplate(ctx, in.profile, target, how)
	switch {
	case apierrors.IsNotFound(err):
		in.noTemplate = fmt.Sprintf("there is no %s %q in namespace %s to take the pod template from", target.Kind, target.Name, in.profile.Namespace)
		return nil
	case err != nil:
		return fmt.Errorf("reading %s %s: %w", target.Kind, target.Name, err)
	}
	in.template = template
	if err := r.Probes.Observe(in.template.DeepCopy()); err != nil {
		in.noTemplate = fmt.Sprintf("%s %q: %v", target.Kind, target.Name, err)
	}
	return nil
}

// podTemplate returns the template of the pods of a profile's target. The
// metadata of Jobs and CronJobs are in the cache: by them it finds, from the caches alone,
// whether one has changed since it was read.
func (r *Reconciler) podTemplate(ctx context.Context, p *v1alpha1.WorkloadProfile, target *v1alpha1.MeasurementTarget, how freshness) (*corev1.PodTemplateSpec, error) {
	key := types.NamespacedName{Namespace: p.Namespace, Name: target.Name}
	if how == fromCaches {
		known := &metav1.PartialObjectMetadata{}
		known.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind(target.Kind))
		if err := r.Client.Get(ctx, key, known); err != nil {
			return nil, err
		}
		if seen, ok := r.templates.Recall(p); ok && seen.isOf(known) {
			return seen.template, nil
		}
	}
	var template *corev1.PodTemplateSpec
	var object client.Object
	if target.Kind == v1alpha1.TargetCronJob {
		o := &batchv1.CronJob{}
		object, template = o, &o.Spec.JobTemplate.Spec.Template
	} else {
		o := &batchv1.Job{}
		object, template = o, &o.Spec.Template
	}
	if err := r.API.Get(ctx, key, object); err != nil {
		return nil, err
	}
	r.templates.Keep(p, seenTemplate{object.GetUID(), object.GetResourceVersion(), template})
	return template, nil
}

// seenTemplate is the template of the target of a waiting profile, from the latest read. It is only
// read.
type seenTemplate struct {
	uid             types.UID // of the target
	resourceVersion string
	template        *corev1.PodTemplateSpec
}

// isOf reports whether a template is that of an object in its present state.
func (s *seenTemplate) isOf(o client.Object) bool {
	return s.uid == o.GetUID() && s.resourceVersion == o.GetResourceVersion()
}
