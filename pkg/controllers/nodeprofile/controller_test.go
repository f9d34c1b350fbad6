package nodeprofile_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/nodeprofile"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// newReconciler returns a reconciler in a cluster with the objects, and its events.
func newReconciler(t *testing.T, objects ...client.Object) (*nodeprofile.Reconciler, chan string) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	recorder := events.NewFakeRecorder(100)
	return &nodeprofile.Reconciler{
		Client:   fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.NodeProfile{}).Build(),
		Recorder: recorder,
		Clock:    testingclock.NewFakePassiveClock(noon),
	}, recorder.Events
}

// declared is a profile for the nodes with that label.
func declared(name, key, value string, disks int32) *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1, CreationTimestamp: metav1.NewTime(noon)},
		Spec: v1alpha1.NodeProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
			Resources: []v1alpha1.ResourceServers{{Name: "disk", Servers: new(disks)}},
		},
	}
}

func node(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// profiles reads all profiles, by name.
func profiles(t *testing.T, r *nodeprofile.Reconciler) map[string]v1alpha1.NodeProfile {
	t.Helper()
	var list v1alpha1.NodeProfileList
	if err := r.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]v1alpha1.NodeProfile{}
	for _, p := range list.Items {
		all[p.Name] = p
	}
	return all
}

func TestEveryNodeProfileIsToldHowItIsUsed(t *testing.T) {
	t.Parallel()
	r, emitted := newReconciler(t,
		declared("big", "size", "big", 4), declared("fast", "disk", "ssd", 8), declared("none", "size", "none", 0),
		node("a", map[string]string{"size": "big"}), node("b", map[string]string{"size": "big", "disk": "ssd"}))
	if _, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil {
		t.Fatal(err)
	}
	all := profiles(t, r)
	type answer struct {
		Nodes             int32
		Ready, Conflicted bool
	}
	got := map[string]answer{}
	for name, p := range all {
		got[name] = answer{*p.Status.Nodes, meta.IsStatusConditionTrue(p.Status.Conditions, "Ready"), meta.IsStatusConditionTrue(p.Status.Conditions, "Conflicted")}
	}
	want := map[string]answer{"big": {2, true, true}, "fast": {0, true, true}, "none": {0, false, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected statuses (-want +got):\n%s", diff)
	}
	if n := len(emitted); n != 3 {
		t.Errorf("%d events, want 3: two about the conflict, one about the invalid profile", n)
	}

	if _, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, profiles(t, r)); diff != "" {
		t.Errorf("nothing changed, and written again (-before +after):\n%s", diff)
	}
	if n := len(emitted); n != 3 {
		t.Errorf("%d events after deciding again, want no more than 3", n)
	}
}

func TestAStatusThatSomebodyElseWroteMeanwhileIsDecidedOnAgain(t *testing.T) {
	t.Parallel()
	big := declared("big", "size", "big", 4)
	big.Spec.Calibration = &v1alpha1.Calibration{Resources: []v1alpha1.ProbedResource{{Name: "cpu"}}}
	r, _ := newReconciler(t, big)
	through := r.Client
	r.Client = calibratingAfterList{through}
	result, err := r.Reconcile(t.Context(), reconcile.Request{})
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("result %+v, error %v, want to be asked again", result, err)
	}
	r.Client = through
	if result, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil || !result.IsZero() {
		t.Errorf("result %+v, error %v, want none", result, err)
	}
	got := profiles(t, r)["big"].Status
	if ready := meta.FindStatusCondition(got.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Reason != v1alpha1.ReasonCalibrated {
		t.Errorf("the condition is %+v, want Calibrated", ready)
	}
	if len(got.Resources) != 1 || *got.Resources[0].Servers != 16 {
		t.Errorf("what was calibrated is undone: %+v", got.Resources)
	}
}

// calibratingAfterList is a client that writes calibrated values once the profiles have been
// listed.
type calibratingAfterList struct{ client.Client }

func (c calibratingAfterList) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := c.Client.List(ctx, list, options...); err != nil {
		return err
	}
	all, ok := list.(*v1alpha1.NodeProfileList)
	if !ok {
		return nil
	}
	p := all.Items[0].DeepCopy()
	p.Status.Resources = []v1alpha1.CalibratedResource{{Name: "cpu", Servers: new(int32(16)), Time: new(metav1.NewTime(noon))}}
	return c.Status().Update(ctx, p)
}

func TestNothingIsDoneWithoutNodeProfiles(t *testing.T) {
	t.Parallel()
	r, emitted := newReconciler(t, node("a", nil))
	if result, err := r.Reconcile(t.Context(), reconcile.Request{}); err != nil || !result.IsZero() || len(emitted) > 0 {
		t.Errorf("result %v, error %v, %d events, want nothing", result, err, len(emitted))
	}
}
