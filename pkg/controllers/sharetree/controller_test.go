package sharetree

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// cluster is a cluster with a reconciler in it.
type cluster struct {
	client.Client
	*Reconciler
	written []string // the objects of which a status was written
	events  chan string
	refuse  map[string]error // what writing the status of an object gives
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := &cluster{refuse: map[string]error{}}
	c.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.WorkloadProfile{}, &v1alpha1.ShareTree{}).
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
	c.Reconciler = &Reconciler{Client: c.Client, Recorder: recorder, Clock: testingclock.NewFakePassiveClock(noon)}
	return c
}

// reconcile decides on a tree and returns what was written and which events were
// emitted.
func (c *cluster) reconcile(t *testing.T, tree string) (written, emitted []string) {
	t.Helper()
	if result, err := c.Reconcile(t.Context(), request(tree)); err != nil || result.RequeueAfter != 0 {
		t.Fatalf("result %+v, error %v", result, err)
	}
	for len(c.events) > 0 {
		emitted = append(emitted, <-c.events)
	}
	written, c.written = c.written, nil
	return written, emitted
}

func request(tree string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: tree}}
}

// attainable returns the condition of a profile, nil for none.
func (c *cluster) attainable(t *testing.T, name string) *metav1.Condition {
	t.Helper()
	var p v1alpha1.WorkloadProfile
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, &p); err != nil {
		t.Fatal(err)
	}
	return condition(&p)
}

// ready returns the condition of a tree.
func (c *cluster) ready(t *testing.T, name string) (*v1alpha1.ShareTree, *metav1.Condition) {
	t.Helper()
	var tree v1alpha1.ShareTree
	if err := c.Get(t.Context(), types.NamespacedName{Name: name}, &tree); err != nil {
		t.Fatal(err)
	}
	return &tree, meta.FindStatusCondition(tree.Status.Conditions, v1alpha1.ConditionReady)
}

// company has the groups web and db.
func company() *v1alpha1.ShareTree {
	tree := &v1alpha1.ShareTree{}
	tree.Name, tree.Generation = "company", 1
	tree.Spec.Groups = []v1alpha1.ShareGroup{{Name: "web", Share: new(int32(3))}, {Name: "db", Share: new(int32(1))}}
	return tree
}

// leaf is a profile in a group of the tree, with a limit of its dilation.
func leaf(name, group, utilization, limit string) *v1alpha1.WorkloadProfile {
	p := &v1alpha1.WorkloadProfile{}
	p.Namespace, p.Name, p.Generation = "shop", name, 1
	p.Spec.FairShare = &v1alpha1.FairShare{Tree: "company", Group: group, Share: new(int32(1)), Utilization: new(resource.MustParse(utilization))}
	p.Spec.SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse(limit))}
	p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	return p
}

func TestATreeTellsItsProfilesWhetherTheirSLACanBeMet(t *testing.T) {
	t.Parallel()
	alone := leaf("alone", "", "0.1", "2")
	alone.Spec.FairShare, alone.Status.Conditions = nil, nil
	c := newCluster(t, company(), leaf("cart", "web", "0.4", "5"), leaf("orders", "db", "0.4", "1.5"), alone)
	written, emitted := c.reconcile(t, "company")
	if diff := cmp.Diff([]string{"company", "cart", "orders"}, written); diff != "" {
		t.Errorf("unexpected writes (-want +got):\n%s", diff)
	}
	if len(emitted) != 1 || !strings.HasPrefix(emitted[0], "Warning ExceedsSLA ShareTree \"company\": the mean response time is ") {
		t.Errorf("unexpected events: %q", emitted)
	}
	tree, ready := c.ready(t, "company")
	if ready.Status != metav1.ConditionTrue || ready.Reason != v1alpha1.ReasonPredicted || *tree.Status.MissedSLAs != 1 || len(tree.Status.Workloads) != 2 {
		t.Errorf("unexpected status: %+v", tree.Status)
	}
	if met := c.attainable(t, "cart"); met.Status != metav1.ConditionTrue || met.Reason != v1alpha1.ReasonWithinSLA {
		t.Errorf("unexpected condition: %+v", met)
	}
	if missed := c.attainable(t, "orders"); missed.Status != metav1.ConditionFalse || missed.Reason != v1alpha1.ReasonExceedsSLA {
		t.Errorf("unexpected condition: %+v", missed)
	}
	if none := c.attainable(t, "alone"); none != nil {
		t.Errorf("a profile in no tree has %+v", none)
	}
	if written, emitted := c.reconcile(t, "company"); len(written)+len(emitted) > 0 {
		t.Errorf("the same again writes %q and emits %q", written, emitted)
	}
}

func TestProfilesHearOfATreeThatIsNotThereOrNotReady(t *testing.T) {
	t.Parallel()
	c := newCluster(t, leaf("cart", "web", "0.4", "5"))
	c.reconcile(t, "company")
	if missing := c.attainable(t, "cart"); missing.Status != metav1.ConditionUnknown || missing.Reason != v1alpha1.ReasonTreeNotFound {
		t.Errorf("unexpected condition: %+v", missing)
	}
	if err := c.Create(t.Context(), company()); err != nil {
		t.Fatal(err)
	}
	_, emitted := c.reconcile(t, "company") // the group db has no members
	if _, ready := c.ready(t, "company"); ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonInvalid || !strings.Contains(ready.Message, "the group has no members") {
		t.Errorf("unexpected condition: %+v", ready)
	}
	if unknown := c.attainable(t, "cart"); unknown.Reason != v1alpha1.ReasonTreeNotReady || len(emitted) != 1 || !strings.HasPrefix(emitted[0], "Warning Invalid ") {
		t.Errorf("unexpected condition %+v, events %q", unknown, emitted)
	}
	if err := c.Create(t.Context(), leaf("orders", "db", "0.7", "2")); err != nil {
		t.Fatal(err)
	}
	c.reconcile(t, "company")
	if overloaded := c.attainable(t, "orders"); overloaded.Status != metav1.ConditionFalse || overloaded.Reason != v1alpha1.ReasonOverloaded {
		t.Errorf("unexpected condition: %+v", overloaded)
	}
}

func TestAProfileThatLeavesItsTreeLosesTheCondition(t *testing.T) {
	t.Parallel()
	left := leaf("cart", "web", "0.4", "5")
	left.Spec.FairShare = nil
	left.Status.Conditions = append(left.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSLAAttainable, Status: metav1.ConditionTrue})
	c := newCluster(t, left)
	if diff := cmp.Diff([]reconcile.Request{{}}, treeOf(t.Context(), left)); diff != "" {
		t.Errorf("unexpected requests (-want +got):\n%s", diff)
	}
	c.reconcile(t, "")
	if still := c.attainable(t, "cart"); still != nil {
		t.Errorf("it has %+v", still)
	}
}

func TestAProfileThatChangedMeanwhileIsTriedAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t, company(), leaf("cart", "web", "0.4", "5"), leaf("orders", "db", "0.4", "5"))
	c.refuse["cart"] = apierrors.NewConflict(schema.GroupResource{Resource: "workloadprofiles"}, "cart", errors.New("changed"))
	result, err := c.Reconcile(t.Context(), request("company"))
	if err != nil || result.RequeueAfter != settle {
		t.Errorf("result %+v, error %v", result, err)
	}
	if c.attainable(t, "orders") == nil {
		t.Error("the other profile was not written")
	}
	c.refuse["cart"] = errors.New("refused")
	if _, err := c.Reconcile(t.Context(), request("company")); err == nil || err.Error() != "writing the status of shop/cart: refused" {
		t.Errorf("the error is %v", err)
	}
}

func TestOnlyWhatMattersToATreeMakesItAnew(t *testing.T) {
	t.Parallel()
	before := leaf("cart", "web", "0.4", "5")
	for name, test := range map[string]struct {
		edit func(*v1alpha1.WorkloadProfile)
		want bool
	}{
		"nothing":            {func(*v1alpha1.WorkloadProfile) {}, false},
		"another status":     {func(p *v1alpha1.WorkloadProfile) { p.Status.Pods = new(int32(7)) }, false},
		"another spec":       {func(p *v1alpha1.WorkloadProfile) { p.Generation++ }, true},
		"another controller": {func(p *v1alpha1.WorkloadProfile) { p.Status.Conditions[0].Status = metav1.ConditionFalse }, false},
		"its own condition": {
			func(p *v1alpha1.WorkloadProfile) {
				p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSLAAttainable})
			},
			true,
		},
	} {
		after := before.DeepCopy()
		test.edit(after)
		if got := changed().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if diff := cmp.Diff([]reconcile.Request{request("company")}, treeOf(t.Context(), before)); diff != "" {
		t.Errorf("unexpected requests (-want +got):\n%s", diff)
	}
	stranger := &v1alpha1.WorkloadProfile{}
	if got := treeOf(t.Context(), stranger); got != nil {
		t.Errorf("a profile in no tree asks for %v", got)
	}
}

func TestErrorsOfTheServerAreReturned(t *testing.T) {
	t.Parallel()
	c := newCluster(t, company())
	c.refuse["company"] = errors.New("refused")
	if _, err := c.Reconcile(t.Context(), request("company")); err == nil || err.Error() != "writing the status of company: refused" {
		t.Errorf("the error is %v", err)
	}
	for want, funcs := range map[string]interceptor.Funcs{
		"listing profiles: down": {List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("down")
		}},
		"reading tree company: down": {Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("down")
		}},
	} {
		scheme := runtime.NewScheme()
		if err := v1alpha1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		r := &Reconciler{Client: fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs).Build(), Clock: testingclock.NewFakePassiveClock(noon)}
		if _, err := r.Reconcile(t.Context(), request("company")); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
