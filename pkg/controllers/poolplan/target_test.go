package poolplan

import (
	"context"
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// scaled is a target on an API server, whose replicas become the next ones that are given with each read.
type scaled struct {
	replicas []int64 // at each read; the last one remains
	reads    int
	written  []int64
	busy     int // for how many writes it has changed meanwhile
}

func (s *scaled) get(_ context.Context, _ client.Client, _ string, _, scale client.Object, _ ...client.SubResourceGetOption) error {
	now := s.replicas[min(s.reads, len(s.replicas)-1)]
	s.reads++
	to, is := scale.(*unstructured.Unstructured)
	if !is {
		return fmt.Errorf("the scale is read into a %T", scale)
	}
	return unstructured.SetNestedField(to.Object, now, "spec", "replicas")
}

func (s *scaled) update(_ context.Context, _ client.Client, _ string, _ client.Object, opts ...client.SubResourceUpdateOption) error {
	if s.busy > 0 {
		s.busy--
		return apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, "web", errors.New("the object has been modified"))
	}
	o := &client.SubResourceUpdateOptions{}
	o.ApplyOptions(opts)
	scale, is := o.SubResourceBody.(*unstructured.Unstructured)
	if !is {
		return fmt.Errorf("the scale is written as a %T", o.SubResourceBody)
	}
	n, _, err := unstructured.NestedInt64(scale.Object, "spec", "replicas")
	s.written = append(s.written, n)
	return err
}

// A Deployment whose status changes meanwhile is scaled all the same; one that another client has scaled is not, nor is one that is never
// written in time.
func TestATargetIsScaledWhileOnlyItsStatusChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		server   scaled
		conflict bool
		written  int
	}{
		"at rest":                    {scaled{replicas: []int64{3}}, false, 1},
		"its status changes":         {scaled{replicas: []int64{3}, busy: attempts - 1}, false, 1},
		"its status changes forever": {scaled{replicas: []int64{3}, busy: 100}, true, 0},
		"another client scales it":   {scaled{replicas: []int64{3, 3, 4}, busy: 2}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := test.server
			r := &Reconciler{Client: interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{SubResourceGet: server.get, SubResourceUpdate: server.update})}
			of := &target{object: &unstructured.Unstructured{}}
			of.object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
			if err := r.readScale(t.Context(), of); err != nil {
				t.Fatal(err)
			}
			if err := r.scale(t.Context(), of, 7); apierrors.IsConflict(err) != test.conflict || (err != nil) != test.conflict {
				t.Errorf("%v, want a conflict: %t", err, test.conflict)
			}
			if len(server.written) != test.written {
				t.Errorf("%v was written, want it %d times", server.written, test.written)
			}
		})
	}
}
