package workloadprofile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/controllers/workloadprofile"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// cluster is a cluster with a reconciler in it.
type cluster struct {
	client.Client
	*workloadprofile.Reconciler
	written []string // objects whose status was written
	events  chan string
	refuse  map[string]error // what writing the status of an object gives
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := &cluster{refuse: map[string]error{}}
	c.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.WorkloadProfile{}, &v1alpha1.ShareTree{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, to client.Client, sub string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				if err := c.refuse[o.GetName()]; err != nil {
					return err
				}
				c.written = append(c.written, o.GetName())
				return to.SubResource(sub).Patch(ctx, o, patch, options...)
			},
		}).Build()
	recorder := events.NewFakeRecorder(100)
	c.events = recorder.Events
	c.Reconciler = &workloadprofile.Reconciler{Client: c.Client, Recorder: recorder, Clock: testingclock.NewFakePassiveClock(noon), Pods: podsOf{c.Client}}
	return c
}

// podsOf are the pods that a client reads.
type podsOf struct{ client.Reader }

func (p podsOf) Labels(ctx context.Context, namespace string) ([]labels.Set, error) {
	return statuses.Labels(ctx, p, corev1.SchemeGroupVersion.WithKind("Pod"), client.InNamespace(namespace))
}

// reconcile decides on namespace shop and returns the written objects and the emitted events.
func (c *cluster) reconcile(t *testing.T) (written, emitted []string) {
	t.Helper()
	if _, err := c.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	return c.taken()
}

// taken returns what happened since it was asked last.
func (c *cluster) taken() (written, emitted []string) {
	for len(c.events) > 0 {
		emitted = append(emitted, <-c.events)
	}
	written, c.written = c.written, nil
	return written, emitted
}

var request = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop"}}

// status reads the status of a profile.
func (c *cluster) status(t *testing.T, name string) v1alpha1.WorkloadProfileStatus {
	t.Helper()
	var p v1alpha1.WorkloadProfile
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, &p); err != nil {
		t.Fatal(err)
	}
	return p.Status
}

// declared is a profile for the pods with that label.
func declared(name, key, value, loading string) *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 1, CreationTimestamp: metav1.NewTime(noon)},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
			Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse(loading))}},
		},
	}
}

// pod is a pod of the app web.
func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "web", "tier": "front"}}}
}

func TestAStatusIsWrittenOnceAndNotAgainUntilSomethingChanges(t *testing.T) {
	t.Parallel()
	c := newCluster(t, declared("web", "app", "web", "0.58"), declared("db", "app", "db", "0.1"),
		pod("shop", "web-0"), pod("shop", "web-1"), pod("elsewhere", "web-0"))

	written, emitted := c.reconcile(t)
	if diff := cmp.Diff([]string{"db", "web"}, written); diff != "" {
		t.Errorf("unexpected writes (-want +got):\n%s", diff)
	}
	if len(emitted) > 0 {
		t.Errorf("events where all is well: %q", emitted)
	}
	web := c.status(t, "web")
	if *web.Pods != 2 || *web.ObservedGeneration != 1 || web.Resources[0].Loading.String() != "580m" || !meta.IsStatusConditionTrue(web.Conditions, "Ready") {
		t.Errorf("unexpected status: %+v", web)
	}

	if written, _ := c.reconcile(t); len(written) > 0 {
		t.Errorf("nothing changed, and written again: %v", written)
	}
	if err := c.Create(t.Context(), pod("shop", "web-2")); err != nil {
		t.Fatal(err)
	}
	if written, _ := c.reconcile(t); !cmp.Equal(written, []string{"web"}) {
		t.Errorf("a pod of web came, and written: %v", written)
	}
}

func TestANamespaceWithoutProfilesIsLeftAlone(t *testing.T) {
	t.Parallel()
	elsewhere := declared("web", "app", "web", "0.5")
	elsewhere.Namespace = "elsewhere"
	c := newCluster(t, elsewhere, pod("shop", "web-0"))
	if written, emitted := c.reconcile(t); len(written)+len(emitted) > 0 {
		t.Errorf("written: %v, emitted: %v, want nothing", written, emitted)
	}
}

func TestAResourceThatANodeProfileNamesIsKnown(t *testing.T) {
	t.Parallel()
	p := declared("train", "app", "train", "0.1")
	p.Spec.Resources[0].Name = "gpu"
	c := newCluster(t, p)
	reason := func() string {
		c.reconcile(t)
		return meta.FindStatusCondition(c.status(t, "train").Conditions, v1alpha1.ConditionReady).Reason
	}
	if got := reason(); got != v1alpha1.ReasonUnknownResource {
		t.Errorf("reason %s, want UnknownResource", got)
	}
	if err := c.Create(t.Context(), &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "big"},
		Spec: v1alpha1.NodeProfileSpec{
			Selector: &metav1.LabelSelector{}, Resources: []v1alpha1.ResourceServers{{Name: "gpu", Servers: new(int32(8))}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	if got := reason(); got != v1alpha1.ReasonDeclared {
		t.Errorf("reason %s, want Declared", got)
	}
}

func TestAWarningIsEmittedWhenAProfileTurnsBadAndNotAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t, declared("heavy", "app", "heavy", "7"), declared("web", "app", "web", "0.5"), declared("front", "tier", "front", "0.5"),
		pod("shop", "web-0"))
	conflict := "; of equally specific profiles the oldest wins, then the first by name: make the selectors disjoint, or add a requirement to the one that should win"
	_, emitted := c.reconcile(t)
	want := []string{
		"Warning SelectorOverlap this profile wins 1 pod over web" + conflict,
		`Warning Invalid the scheduler ignores this profile: spec.resources[0].loading: Invalid value: "7": is not a fraction from 0 to 1`,
		"Warning SelectorOverlap this profile loses 1 pod to front" + conflict,
	}
	if diff := cmp.Diff(want, emitted); diff != "" {
		t.Errorf("unexpected events (-want +got):\n%s", diff)
	}

	if err := c.Create(t.Context(), pod("shop", "web-1")); err != nil {
		t.Fatal(err)
	}
	if written, emitted := c.reconcile(t); len(written) != 2 || len(emitted) > 0 {
		t.Errorf("a conflict over one more pod: written %v, emitted %v, want two writes and no event", written, emitted)
	}

	c.setLoading(t, "heavy", "0.7")
	if written, emitted := c.reconcile(t); !cmp.Equal(written, []string{"heavy"}) || len(emitted) > 0 {
		t.Errorf("corrected: written %v, emitted %v, want heavy and no event", written, emitted)
	}
	c.setLoading(t, "heavy", "8")
	if _, emitted := c.reconcile(t); len(emitted) != 1 || !strings.Contains(emitted[0], `Invalid value: "8"`) {
		t.Errorf("wrong again: emitted %v, want one event", emitted)
	}
}

// setLoading changes the loading of a profile's first resource.
func (c *cluster) setLoading(t *testing.T, name, loading string) {
	t.Helper()
	var p v1alpha1.WorkloadProfile
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, &p); err != nil {
		t.Fatal(err)
	}
	p.Spec.Resources[0].Loading = new(resource.MustParse(loading))
	if err := c.Update(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
}

func TestAProfileThatIsDeletedMeanwhileIsNoError(t *testing.T) {
	t.Parallel()
	c := newCluster(t, declared("gone", "app", "gone", "7"), declared("web", "app", "web", "0.5"))
	c.Reconciler.Client = deletingAfterList{c.Client, "gone"}
	written, emitted := c.reconcile(t)
	if diff := cmp.Diff([]string{"gone", "web"}, written); diff != "" {
		t.Errorf("unexpected writes (-want +got):\n%s", diff)
	}
	if len(emitted) > 0 {
		t.Errorf("events about a profile that is gone: %q", emitted)
	}
	if c.status(t, "web").Pods == nil {
		t.Error("the other profile has no status")
	}
}

// deletingAfterList is a client that deletes a profile once the profiles have
// been listed.
type deletingAfterList struct {
	client.Client
	name string
}

func (c deletingAfterList) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := c.Client.List(ctx, list, options...); err != nil {
		return err
	}
	if _, ok := list.(*v1alpha1.WorkloadProfileList); ok {
		return c.Delete(ctx, &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: c.name}})
	}
	return nil
}

func TestOneStatusThatCannotBeWrittenDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, declared("a", "app", "a", "7"), declared("b", "app", "b", "0.5"), declared("c", "app", "c", "0.5"))
	c.refuse["a"], c.refuse["b"] = errors.New("refused"), errors.New("out of order")
	_, err := c.Reconcile(t.Context(), request)
	if err == nil || err.Error() != "writing the status of shop/a: refused\nwriting the status of shop/b: out of order" {
		t.Errorf("unexpected error: %v", err)
	}
	written, emitted := c.taken()
	if !cmp.Equal(written, []string{"c"}) || len(emitted) > 0 {
		t.Errorf("written %v, emitted %v, want c and no event of a status that nobody can read", written, emitted)
	}
}

// A measurement that writes to the status between reading and writing must not be
// undone.
func TestAStatusThatSomebodyElseWroteMeanwhileIsDecidedOnAgain(t *testing.T) {
	t.Parallel()
	web := declared("web", "app", "web", "0.5")
	web.Spec.Measurement = &v1alpha1.Measurement{}
	c := newCluster(t, web)
	c.Reconciler.Client = measuringAfterList{c.Client, "web"}
	result, err := c.Reconcile(t.Context(), request)
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("result %+v, error %v, want to be asked again", result, err)
	}
	if got := c.status(t, "web"); len(got.Measurements) != 1 || len(got.Conditions) != 1 {
		t.Errorf("what was measured is undone: %+v", got)
	}

	c.Reconciler.Client = c.Client
	if result, err := c.Reconcile(t.Context(), request); err != nil || !result.IsZero() {
		t.Errorf("result %+v, error %v, want none", result, err)
	}
	got := c.status(t, "web")
	if ready := meta.FindStatusCondition(got.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Reason != v1alpha1.ReasonMeasured {
		t.Errorf("the condition is %+v, want Measured", ready)
	}
	if len(got.Measurements) != 1 || !meta.IsStatusConditionTrue(got.Conditions, v1alpha1.ConditionMeasured) || got.Resources[0].Loading.String() != "600m" {
		t.Errorf("unexpected status: %+v", got)
	}
}

// measuringAfterList is a client that, once the profiles have been listed, writes a measurement of
// one of them.
type measuringAfterList struct {
	client.Client
	name string
}

func (c measuringAfterList) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := c.Client.List(ctx, list, options...); err != nil {
		return err
	}
	if _, ok := list.(*v1alpha1.WorkloadProfileList); !ok {
		return nil
	}
	var p v1alpha1.WorkloadProfile
	if err := c.Get(ctx, types.NamespacedName{Namespace: "shop", Name: c.name}, &p); err != nil {
		return err
	}
	sixty := new(resource.MustParse("0.6"))
	p.Status.Measurements = []v1alpha1.MeasuredVector{{
		NodeProfile: v1alpha1.NoNodeProfile, Time: new(metav1.NewTime(noon)),
		Resources: []v1alpha1.MeasuredLoading{{Name: "cpu", Loading: sixty, Pressure: sixty, Threads: new(int32(1))}},
	}}
	meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionMeasured, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMeasured})
	return c.Status().Update(ctx, &p)
}

func TestAFailureToListNamesWhatWasListed(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"*v1alpha1.WorkloadProfileList": "listing profiles: broken",
		"*v1alpha1.NodeProfileList":     "listing node profiles: broken",
		"labels of pods":                "listing pods: broken",
	} {
		c := newCluster(t, declared("web", "app", "web", "0.5"))
		c.Reconciler.Client = failingToList{c.Client, kind}
		if kind == "labels of pods" {
			c.Pods = unreadPods{}
		}
		if _, err := c.Reconcile(t.Context(), request); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
	}
}

// unreadPods are pods that cannot be read.
type unreadPods struct{}

func (unreadPods) Labels(context.Context, string) ([]labels.Set, error) {
	return nil, errors.New("broken")
}

// failingToList is a client that cannot list objects of one Go type.
type failingToList struct {
	client.Client
	kind string
}

func (c failingToList) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if fmt.Sprintf("%T", list) == c.kind {
		return errors.New("broken")
	}
	return c.Client.List(ctx, list, options...)
}

// What many profiles cost the API server: one write of each that is new, or
// changed, and nothing for the others.
func TestEveryProfileThatChangedIsOneRequest(t *testing.T) {
	t.Parallel()
	const many = 40
	var objects []client.Object
	for i := range many {
		name := fmt.Sprintf("app-%02d", i)
		objects = append(objects, declared(name, "app", name, "0.5"))
	}
	c := newCluster(t, objects...)
	if written, _ := c.reconcile(t); len(written) != many {
		t.Errorf("%d requests for %d new profiles", len(written), many)
	}
	if written, _ := c.reconcile(t); len(written) != 0 {
		t.Errorf("%d requests where nothing changed", len(written))
	}
	c.setLoading(t, "app-07", "0.7")
	if written, _ := c.reconcile(t); !cmp.Equal(written, []string{"app-07"}) {
		t.Errorf("one profile changed, and written: %v", written)
	}
}
