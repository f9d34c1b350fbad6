package measurement

import (
	"context"
	"fmt"
	"sync"

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
		if template := r.templates.recall(p, known); template != nil {
			return template, nil
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
	r.templates.keep(p, object, template)
	return template, nil
}

// templates are those that were read last, of the targets of profiles that wait. The
// zero value is empty. They are only read.
type templates struct {
	mu sync.Mutex
	of map[types.NamespacedName]seenTemplate // by profile
}

// seenTemplate is that of an object as it was.
type seenTemplate struct {
	uid             types.UID // of the object
	resourceVersion string
	template        *corev1.PodTemplateSpec
}

func (t *templates) keep(of *v1alpha1.WorkloadProfile, object client.Object, what *corev1.PodTemplateSpec) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[types.NamespacedName]seenTemplate{}
	}
	t.of[client.ObjectKeyFromObject(of)] = seenTemplate{object.GetUID(), object.GetResourceVersion(), what}
}

// recall returns the template of an object as it is, nil if it was not read yet.
func (t *templates) recall(of *v1alpha1.WorkloadProfile, object client.Object) *corev1.PodTemplateSpec {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.of[client.ObjectKeyFromObject(of)]
	if !ok || known.uid != object.GetUID() || known.resourceVersion != object.GetResourceVersion() {
		return nil
	}
	return known.template
}

func (t *templates) forget(of types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, of)
}
