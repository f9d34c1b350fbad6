package scheduling_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/scheduling"
)

// named is what has a namespace and a name.
func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// vertical is a VerticalPodAutoscaler of a Deployment.
func vertical(target string) *unstructured.Unstructured {
	v := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "shop", "name": target},
		"spec":     map[string]any{"targetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": target}},
	}}
	v.SetGroupVersionKind(disruption.VerticalPodAutoscalerVersion.WithKind("VerticalPodAutoscaler"))
	return v
}

// newScheme returns a scheme of its own: a fake client adds the kinds of unstructured objects to the one that it has.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	return s
}

// reader reads from a cluster with one object of each kind in namespace shop, but for lists that are answered otherwise.
func reader(answer func(client.ObjectList) error) client.Reader {
	return fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(
		&policyv1.PodDisruptionBudget{ObjectMeta: named("shop", "cart")}, &policyv1.PodDisruptionBudget{ObjectMeta: named("bank", "ledger")},
		&batchv1.Job{ObjectMeta: named("shop", "import")}, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named("shop", "cart")},
		&corev1.PersistentVolumeClaim{ObjectMeta: named("shop", "data")}, vertical("cart"),
	).WithInterceptorFuncs(interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if err := answer(list); err != nil {
			return err
		}
		return c.List(ctx, list, options...)
	}}).Build()
}

func all(client.ObjectList) error { return nil }

var errForbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "", errors.New("no"))

// forbidden answers that lists of the type of another one may not be read.
func forbidden[L client.ObjectList](list client.ObjectList) error {
	if _, is := list.(L); is {
		return errForbidden
	}
	return nil
}

// counted counts what was listed: budgets, Jobs, and autoscalers of both kinds.
func counted(in *disruption.Input) [4]int {
	return [...]int{len(in.Budgets), len(in.Jobs), len(in.HorizontalPodAutoscalers), len(in.VerticalPodAutoscalers)}
}

func TestWhatDisruptsIsListedOfAllOrOfOneNamespace(t *testing.T) {
	t.Parallel()
	l := &scheduling.Lister{Reader: reader(all)}
	everywhere, err := l.Disruption(t.Context())
	if err != nil || counted(everywhere) != [...]int{2, 1, 1, 1} {
		t.Fatalf("listed %v, %v", everywhere, err)
	}
	shop, err := l.Disruption(t.Context(), client.InNamespace("shop"))
	if err != nil || counted(shop) != [...]int{1, 1, 1, 1} || shop.VerticalPodAutoscalers[0].Spec.TargetRef.Name != "cart" {
		t.Fatalf("listed %v, %v", shop, err)
	}
}

func TestAKindThatIsNotInstalledHasNoObjects(t *testing.T) {
	t.Parallel()
	l := &scheduling.Lister{Reader: reader(func(list client.ObjectList) error {
		if _, is := list.(*unstructured.UnstructuredList); is {
			return &meta.NoKindMatchError{}
		}
		return nil
	})}
	if in, err := l.Disruption(t.Context()); err != nil || counted(in) != [...]int{2, 1, 1, 0} {
		t.Errorf("listed %v, %v", in, err)
	}
}

func TestWhatMayNotBeListedIsToldOrAnError(t *testing.T) {
	t.Parallel()
	claims := []corev1.Pod{{ObjectMeta: named("shop", "db"), Spec: corev1.PodSpec{
		NodeName: "worker", Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}},
	}}}
	nodes := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}}
	var told []string
	l := &scheduling.Lister{Unlisted: func(err error, unknown string) error {
		told = append(told, unknown)
		return err
	}}
	for _, keep := range []bool{true, false} {
		if !keep {
			l.Unlisted = nil
		}
		l.Reader = reader(forbidden[*batchv1.JobList])
		if _, err := l.Disruption(t.Context()); !errors.Is(err, errForbidden) {
			t.Errorf("Jobs that may not be listed: %v", err)
		}
		l.Reader = reader(forbidden[*corev1.PersistentVolumeClaimList])
		if _, err := l.Filter(t.Context(), nodes, claims, scheduling.Each(claims)); !errors.Is(err, errForbidden) {
			t.Errorf("claims that may not be listed: %v", err)
		}
	}
	want := []string{"whether they keep pods from moving is not known", "where pods may go that depend on them is not known"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestListingGoesOnWithoutWhatMayNotBeListed(t *testing.T) {
	t.Parallel()
	l := &scheduling.Lister{Reader: reader(forbidden[*batchv1.JobList]), Unlisted: func(error, string) error { return nil }}
	if in, err := l.Disruption(t.Context()); err != nil || counted(in) != [...]int{2, 0, 1, 1} {
		t.Errorf("listed %v, %v", in, err)
	}
}

func TestAnErrorOfListingSaysWhat(t *testing.T) {
	t.Parallel()
	l := &scheduling.Lister{Reader: reader(func(client.ObjectList) error { return errors.New("the server is gone") }), Unlisted: func(error, string) error { return nil }}
	if _, err := l.Disruption(t.Context()); err == nil || !strings.Contains(err.Error(), "listing what pods may be disrupted by: the server is gone") {
		t.Errorf("the error is %v", err)
	}
}

// One object that cannot be read, which any team may have written, does not keep others from being looked at.
func TestWhatCannotBeReadIsToldOrAnError(t *testing.T) {
	t.Parallel()
	odd := vertical("odd")
	odd.Object["spec"] = map[string]any{"targetRef": "none"}
	from := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(odd, vertical("cart")).Build()
	var told []string
	l := &scheduling.Lister{Reader: from, Unlisted: func(err error, unknown string) error {
		told = append(told, err.Error()+": "+unknown)
		return nil
	}}
	in, err := l.Disruption(t.Context())
	if err != nil || counted(in) != [...]int{0, 0, 0, 1} || len(told) != 1 || !strings.Contains(told[0], "VerticalPodAutoscaler shop/odd") {
		t.Errorf("listed %v, %v, told %v", in, err, told)
	}
	l.Unlisted = nil
	if _, err := l.Disruption(t.Context()); err == nil || !strings.Contains(err.Error(), "VerticalPodAutoscaler shop/odd") {
		t.Errorf("the error is %v", err)
	}
}
