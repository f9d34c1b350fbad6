package measurement

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// newStore returns a fake client that serves typed objects as copies of those in its tracker, and creates the Jobs that are
// applied: encoding all of them as JSON for each list, and recording the manager of each field, took three quarters of the
// time of a measurement.
func newStore(t *testing.T, scheme *runtime.Scheme, objects ...client.Object) client.WithWatch {
	t.Helper()
	tracker := clienttesting.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
	s := store{scheme, tracker}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjectTracker(tracker).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.WorkloadProfile{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.Node{}).
		WithInterceptorFuncs(interceptor.Funcs{Get: s.get, List: s.list, Apply: s.apply}).Build()
}

// store is the state of a fake client.
type store struct {
	scheme  *runtime.Scheme
	tracker clienttesting.ObjectTracker
}

// get copies an object of a type that the tracker holds.
func (s store) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, s.scheme)
	if err != nil {
		return err
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	object, err := s.tracker.Get(resource, key.Namespace, key.Name)
	if err != nil {
		return err
	}
	if reflect.TypeOf(object) != reflect.TypeOf(into) { // metadata only
		return c.Get(ctx, key, into, opts...)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(object).Elem())
	return nil
}

// list copies the objects of a kind that are selected.
func (s store) list(_ context.Context, _ client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	gvk, err := apiutil.GVKForObject(into, s.scheme)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	all, err := s.tracker.List(resource, gvk, options.Namespace)
	if err != nil {
		return err
	}
	objects, err := meta.ExtractList(all)
	if err != nil {
		return err
	}
	selected := make([]runtime.Object, 0, len(objects))
	for _, o := range objects {
		object, ok := o.(client.Object)
		if ok && (options.LabelSelector == nil || options.LabelSelector.Matches(labels.Set(object.GetLabels()))) &&
			(options.FieldSelector == nil || options.FieldSelector.Matches(fieldsOf(object))) {
			selected = append(selected, o)
		}
	}
	return meta.SetList(into, selected)
}

// fieldsOf returns the fields by which lists may select an object.
func fieldsOf(o client.Object) fields.Set {
	switch o := o.(type) {
	case *corev1.Pod:
		return fields.Set{"spec.nodeName": o.Spec.NodeName, "status.phase": string(o.Status.Phase)}
	case *corev1.Event:
		return fields.Set{"involvedObject.uid": string(o.InvolvedObject.UID)}
	default:
		return nil
	}
}

// apply creates a Job. An existing one stays unchanged: nothing else changes applied Jobs.
func (s store) apply(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, job); err != nil {
		return fmt.Errorf("only Jobs are applied: %w", err)
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, job))
}
