package sharetree

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// cluster is a cluster with a reconciler in it.
type cluster struct {
	client.Client
	*Reconciler
	written []string // objects whose status was written
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
		WithStatusSubresource(&v1alpha1.ShareTree{}).
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
	c.Reconciler = &Reconciler{Client: c.Client, Recorder: recorder, Clock: testingclock.NewFakePassiveClock(noon), Answers: NewAnswers()}
	return c
}

// reconcile decides on a tree and returns the written objects and the emitted events.
func (c *cluster) reconcile(t *testing.T, tree string) (written, emitted []string) {
	t.Helper()
	if _, err := c.Reconcile(t.Context(), request(tree)); err != nil {
		t.Fatal(err)
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

// attainable returns the condition that a profile should have, nil for none.
func (c *cluster) attainable(t *testing.T, name string) *metav1.Condition {
	t.Helper()
	var p v1alpha1.WorkloadProfile
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, &p); err != nil {
		t.Fatal(err)
	}
	if !c.Answers.Apply(&p, metav1.NewTime(noon)) {
		t.Fatalf("there is no answer for %s", name)
	}
	return condition(p.Status.Conditions)
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
	tree.Spec.Namespaces = []string{"shop"}
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
	if diff := cmp.Diff([]string{"company"}, written); diff != "" {
		t.Errorf("unexpected writes (-want +got):\n%s", diff)
	}
	if len(emitted) > 0 {
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
	broken := company()
	broken.Spec.Groups[1].Parent = "it"
	if err := c.Create(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	_, emitted := c.reconcile(t, "company")
	if _, ready := c.ready(t, "company"); ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonInvalid || !strings.Contains(ready.Message, "there is no such group") {
		t.Errorf("unexpected condition: %+v", ready)
	}
	if unknown := c.attainable(t, "cart"); unknown.Reason != v1alpha1.ReasonTreeNotReady || len(emitted) != 1 || !strings.HasPrefix(emitted[0], "Warning Invalid ") {
		t.Errorf("unexpected condition %+v, events %q", unknown, emitted)
	}
}

// The errors of one team's profiles in a tree affect no other team's.
func TestATreeNamesTheProfilesThatItLeavesOutAndTellsThem(t *testing.T) {
	t.Parallel()
	stranger := leaf("stranger", "web", "0.1", "5")
	stranger.Namespace = "mallory"
	c := newCluster(t, company(), leaf("cart", "web", "0.4", "5"), leaf("orders", "db", "0.7", "2"), leaf("broken", "it", "0.1", "5"), stranger)
	c.reconcile(t, "company")
	tree, ready := c.ready(t, "company")
	if ready.Status != metav1.ConditionTrue || !strings.Contains(ready.Message, "WorkloadProfiles that are left out: 3, such as mallory/stranger: ") {
		t.Errorf("unexpected condition: %+v", ready)
	}
	var left []string
	for _, l := range tree.Status.LeftOut {
		left = append(left, l.Name+" "+l.Reason)
	}
	want := []string{"mallory/stranger NamespaceNotListed", "shop/broken Invalid", "shop/orders Overloaded"}
	if diff := cmp.Diff(want, left); diff != "" || *tree.Status.LeftOutCount != 3 || *tree.Status.WorkloadCount != 1 {
		t.Errorf("%d are left out, %d are not (-want +got):\n%s", *tree.Status.LeftOutCount, *tree.Status.WorkloadCount, diff)
	}
	if met := c.attainable(t, "cart"); met.Reason != v1alpha1.ReasonWithinSLA {
		t.Errorf("unexpected condition: %+v", met)
	}
	if overloaded := c.attainable(t, "orders"); overloaded.Status != metav1.ConditionFalse || overloaded.Reason != v1alpha1.ReasonOverloaded {
		t.Errorf("unexpected condition: %+v", overloaded)
	}
	if broken := c.attainable(t, "broken"); broken.Status != metav1.ConditionUnknown || broken.Reason != v1alpha1.ReasonInvalid || !strings.Contains(broken.Message, "leaves this profile out: spec.fairShare.group") {
		t.Errorf("unexpected condition: %+v", broken)
	}
	if !c.Answers.Apply(stranger, metav1.NewTime(noon)) {
		t.Fatal("there is no answer for the stranger")
	}
	if told := condition(stranger.Status.Conditions); told.Status != metav1.ConditionUnknown || told.Reason != v1alpha1.ReasonNamespaceNotListed || !strings.Contains(told.Message, `namespace "mallory"`) {
		t.Errorf("unexpected condition: %+v", told)
	}
}

func TestAProfileThatLeavesItsTreeLosesTheCondition(t *testing.T) {
	t.Parallel()
	left := leaf("cart", "web", "0.4", "5")
	left.Spec.FairShare = nil
	left.Status.Conditions = append(left.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSLAAttainable, Status: metav1.ConditionTrue})
	if still := newCluster(t, left).attainable(t, "cart"); still != nil {
		t.Errorf("it has %+v", still)
	}
}

// An answer is for the profiles with which it was computed, in their state then.
func TestAProfileThatIsNewOrChangedHasNoAnswerUntilItsTreeIsComputed(t *testing.T) {
	t.Parallel()
	c := newCluster(t, company(), leaf("cart", "web", "0.4", "5"), leaf("orders", "db", "0.4", "5"))
	known := func(p *v1alpha1.WorkloadProfile) bool { return c.Answers.Apply(p, metav1.NewTime(noon)) }
	if known(leaf("cart", "web", "0.4", "5")) {
		t.Error("there is an answer before the tree was computed")
	}
	c.reconcile(t, "company")
	for name, edit := range map[string]func(*v1alpha1.WorkloadProfile){
		"another generation": func(p *v1alpha1.WorkloadProfile) { p.Generation++ },
		"another profile":    func(p *v1alpha1.WorkloadProfile) { p.UID = "made anew" },
		"another name":       func(p *v1alpha1.WorkloadProfile) { p.Name = "search" },
		"another tree":       func(p *v1alpha1.WorkloadProfile) { p.Spec.FairShare.Tree = "elsewhere" },
	} {
		p := leaf("cart", "web", "0.4", "5")
		edit(p)
		before := p.DeepCopy()
		if known(p) || !cmp.Equal(before.Status, p.Status) {
			t.Errorf("%s: there is an answer, or the status changed to %+v", name, p.Status)
		}
	}
	if !known(leaf("cart", "web", "0.4", "5")) {
		t.Error("there is no answer")
	}
	select {
	case e := <-c.Answers.Changed():
		if e.Object.GetNamespace() != "shop" || len(c.Answers.Changed()) > 0 {
			t.Errorf("namespace %q and %d more are decided on again", e.Object.GetNamespace(), len(c.Answers.Changed()))
		}
	default:
		t.Error("no namespace is decided on again")
	}
}

// Each profile that joins a tree changes the numbers of all others: those are written
// when no more join, or after a minute, unless they say something else than before.
func TestNumbersThatSayTheSameAreWrittenWhenProfilesNoLongerJoin(t *testing.T) {
	t.Parallel()
	const cpus = "0.1"
	cart, orders := leaf("cart", "web", cpus, "5"), leaf("orders", "db", cpus, "2")
	c := newCluster(t, company(), cart, orders)
	clock := testingclock.NewFakePassiveClock(noon)
	c.Clock = clock
	write := func(p *v1alpha1.WorkloadProfile) (changed bool) {
		before := p.DeepCopy()
		if !c.Answers.Apply(p, metav1.NewTime(clock.Now())) {
			t.Fatalf("there is no answer for %s", p.Name)
		}
		return !cmp.Equal(before.Status, p.Status)
	}
	reconcile := func(again time.Duration) {
		t.Helper()
		if result, err := c.Reconcile(t.Context(), request("company")); err != nil || result.RequeueAfter != again {
			t.Fatalf("result %+v, error %v", result, err)
		}
	}
	join := func(name, utilization string) {
		t.Helper()
		if err := c.Create(t.Context(), leaf(name, "web", utilization, "5")); err != nil {
			t.Fatal(err)
		}
	}
	reconcile(0) // the first answer is due at once
	if !write(cart) || !write(orders) {
		t.Error("new profiles have the condition already")
	}
	c.written = nil
	join("search", "0.05")
	reconcile(steadyAfter)
	if write(cart) || len(c.written) > 0 {
		t.Error("other numbers are written while profiles join")
	}
	reconcile(0)
	if tree, _ := c.ready(t, "company"); len(c.written) != 1 || *tree.Status.WorkloadCount != 3 {
		t.Errorf("the status of the tree is written %d times, want once, with 3 profiles: %+v", len(c.written), tree.Status)
	}
	if !write(cart) || write(cart) {
		t.Error("other numbers are not written once, after no more profiles joined")
	}
	join("checkout", "0.05")
	clock.SetTime(noon.Add(maxUnsteady + time.Second))
	reconcile(0)
	if !write(cart) {
		t.Error("other numbers are not written after a minute")
	}
	write(orders)
	join("batch", "0.5")
	reconcile(steadyAfter)
	if is := condition(orders.Status.Conditions); is.Status != metav1.ConditionTrue || !write(orders) || condition(orders.Status.Conditions).Status != metav1.ConditionFalse {
		t.Errorf("an SLA that can no longer be met is not written at once: %+v", condition(orders.Status.Conditions))
	}
}

func TestAProfileIsMappedToItsTree(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]reconcile.Request{request("company")}, treeOf(t.Context(), leaf("cart", "web", "0.4", "5"))); diff != "" {
		t.Errorf("unexpected requests (-want +got):\n%s", diff)
	}
	if got := treeOf(t.Context(), &v1alpha1.WorkloadProfile{}); got != nil {
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
