package remediation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// world is a cluster whose API server, kubelets and controllers are played, with a reconciler
// in it.
type world struct {
	client.Client
	*Reconciler
	clock  *testingclock.FakePassiveClock
	events chan string
	ctx    func() context.Context

	// refuseResize and refuseEviction are what the API server answers in place of doing it,
	// given how many times it was asked; admit is what a webhook makes of a resized pod.
	refuseResize, refuseEviction func(n int) error
	admit                        func(*corev1.Pod)
	// kubelet follows a resize, and controllers make pods anew; nil for not at all.
	kubelet     func(*corev1.Pod)
	controllers func(*world)
	judgement   func(n int) (Judgement, error)

	resizes, evictions           int // that were done
	askedResizes, askedEvictions int
	judged                       int

	// The process ends before or after writes, and writes nothing from then on.
	writes int
	ends   []kill
	dead   bool
}

// kill is when the process ends: before or after its nth write.
type kill struct {
	n     int
	after bool
}

func (k kill) String() string {
	if k.after {
		return fmt.Sprintf("after write %d", k.n)
	}
	return fmt.Sprintf("before write %d", k.n)
}

// errEnded is what a process sees that ends: nothing.
var errEnded = errors.New("the process has ended")

// write does a write, unless the process has ended.
func (w *world) write(do func() error) error {
	if w.dead {
		return errEnded
	}
	w.writes++
	if slices.Contains(w.ends, kill{w.writes, false}) {
		w.dead = true
		return errEnded
	}
	err := do()
	if slices.Contains(w.ends, kill{w.writes, true}) {
		w.dead = true
		return errEnded
	}
	return err
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, policyv1.AddToScheme, batchv1.AddToScheme, autoscalingv2.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{ctx: t.Context, clock: testingclock.NewFakePassiveClock(noon), kubelet: follows, controllers: (*world).replace}
	w.Client = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&v1alpha1.Remediation{}, &v1alpha1.RemediationPolicy{}).
		WithObjects(objects...).
		WithObjects(
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "loadline-system"}},
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "shop"}}},
		).Build()
	w.start(t)
	return w
}

// start starts a reconciler that remembers nothing of an earlier one.
func (w *world) start(t *testing.T) {
	t.Helper()
	if w.events == nil {
		w.events = make(chan string, 1000)
	}
	recorder := &events.FakeRecorder{Events: w.events}
	w.Reconciler = &Reconciler{
		Client: interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{ //nolint:errcheck // the fake client can watch
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				if sub == resizeSubresource {
					return w.resize(ctx, o.(*corev1.Pod), patch, options) //nolint:errcheck // only pods are resized
				}
				return w.write(func() error { return c.SubResource(sub).Patch(ctx, o, patch, options...) })
			},
			SubResourceCreate: func(ctx context.Context, c client.Client, _ string, o, eviction client.Object, _ ...client.SubResourceCreateOption) error {
				return w.write(func() error { return w.evict(ctx, o, eviction.(*policyv1.Eviction)) }) //nolint:errcheck // nothing else is created
			},
		}),
		API: w.Client, Recorder: recorder, Clock: w.clock, Namespace: "loadline-system",
		Judge: w, Permission: permission{}, Resizable: func(context.Context) (bool, error) { return true, nil }, Metrics: NewMetrics(prometheus.NewRegistry()),
	}
	w.dead = false
}

// resize answers as an API server does.
func (w *world) resize(ctx context.Context, o *corev1.Pod, patch client.Patch, options []client.SubResourcePatchOption) error {
	given := client.SubResourcePatchOptions{}
	given.ApplyOptions(options)
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	now := &corev1.Pod{}
	if err := w.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
		return err
	}
	var versions metav1.PartialObjectMetadata
	before, err := json.Marshal(now)
	if err := errors.Join(err, json.Unmarshal(data, &versions)); err != nil {
		return err
	}
	if versions.ResourceVersion != now.ResourceVersion || versions.UID != now.UID {
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, o.Name, errors.New("it has changed"))
	}
	after, err := strategicpatch.StrategicMergePatch(before, data, corev1.Pod{})
	if err != nil {
		return err
	}
	resized := &corev1.Pod{}
	if err := json.Unmarshal(after, resized); err != nil {
		return err
	}
	if w.admit != nil {
		w.admit(resized)
	}
	if len(given.DryRun) > 0 {
		if w.refuseResize != nil {
			if err := w.refuseResize(w.askedResizes); err != nil {
				w.askedResizes++
				return err
			}
		}
		resized.DeepCopyInto(o)
		return nil
	}
	return w.write(func() error {
		w.askedResizes++
		if err := w.Update(ctx, resized); err != nil {
			return err
		}
		w.resizes++
		resized.DeepCopyInto(o)
		return nil
	})
}

// evict answers as an API server does. The pod is gone at once.
func (w *world) evict(ctx context.Context, o client.Object, eviction *policyv1.Eviction) error {
	w.askedEvictions++
	if w.refuseEviction != nil {
		if err := w.refuseEviction(w.askedEvictions - 1); err != nil {
			return err
		}
	}
	if eviction.DeleteOptions == nil || eviction.DeleteOptions.Preconditions == nil || *eviction.DeleteOptions.Preconditions.UID != o.GetUID() {
		return apierrors.NewBadRequest("an eviction without the UID of its pod")
	}
	now := &corev1.Pod{}
	if err := w.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
		return err
	}
	if now.UID != o.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, o.GetName(), errors.New("the UID in the precondition differs"))
	}
	w.evictions++
	return w.Delete(ctx, now)
}

// Judge judges as the test says, and otherwise that the change has won as predicted.
func (w *world) Judge(context.Context, *v1alpha1.Remediation) (Judgement, error) {
	w.judged++
	if w.judgement == nil {
		return Judgement{Win: 0.5, Low: 0.4, High: 0.6}, nil
	}
	return w.judgement(w.judged - 1)
}

// follows has the kubelet do what it is asked to.
func follows(pod *corev1.Pod) {
	pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress
	})
	for i := range pod.Spec.Containers {
		pod.Status.ContainerStatuses[i].Resources = pod.Spec.Containers[i].Resources.DeepCopy()
	}
}

// says has the kubelet answer a resize with a condition, until it is undone.
func says(kind corev1.PodConditionType, reason, message string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		follow := pod.DeepCopy()
		follows(follow)
		if asked := pod.Spec.Containers[0].Resources.Limits.Cpu(); asked.Cmp(resource.MustParse("300m")) == 0 {
			follow.DeepCopyInto(pod)
			return
		}
		pod.Status.Conditions = slices.Concat(follow.Status.Conditions, []corev1.PodCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message}})
	}
}

// replace makes the pod of the ReplicaSet anew on node-2, where it is ready.
func (w *world) replace() {
	var pods corev1.PodList
	if err := w.List(w.ctx(), &pods); err != nil {
		panic(err)
	}
	if len(pods.Items) == 0 {
		if err := w.Create(w.ctx(), podOn("cart-2", "node-2", w.clock.Now())); err != nil {
			panic(err)
		}
	}
}

// play lets kubelets and controllers do their part.
func (w *world) play(t *testing.T) {
	t.Helper()
	if w.controllers != nil {
		w.controllers(w)
	}
	var pods corev1.PodList
	if err := w.List(t.Context(), &pods); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if w.kubelet == nil {
			continue
		}
		w.kubelet(&pods.Items[i])
		if err := w.Client.Status().Update(t.Context(), &pods.Items[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// step reconciles once, and then lets the others do their part and time pass.
func (w *world) step(t *testing.T, name string) error {
	t.Helper()
	result, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: name}})
	if w.dead {
		w.start(t)
		err = nil
	}
	w.play(t)
	w.clock.SetTime(w.clock.Now().Add(max(result.RequeueAfter.Truncate(time.Second), 5*time.Second)))
	return err
}

// maxSteps is how many reconciliations a change takes at most.
const maxSteps = 400

// run reconciles until the change is complete.
func (w *world) run(t *testing.T) *v1alpha1.Remediation {
	t.Helper()
	return w.until(t, "change", remediations.Complete)
}

// until reconciles until a change is as it should be.
func (w *world) until(t *testing.T, name string, is func(*v1alpha1.Remediation) bool) *v1alpha1.Remediation {
	t.Helper()
	var last error
	for range maxSteps {
		if r := w.change(t, name); is(r) {
			return r
		}
		last = w.step(t, name)
	}
	t.Fatalf("after %d reconciliations, the last with the error %v, the change is still %+v", maxSteps, last, w.change(t, name).Status)
	return nil
}

func (w *world) change(t *testing.T, name string) *v1alpha1.Remediation {
	t.Helper()
	var r v1alpha1.Remediation
	if err := w.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// pod returns a pod, nil if there is none.
func (w *world) pod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	err := w.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, &pod)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		t.Fatal(err)
	}
	return &pod
}

// emitted returns the events so far, each by its reason.
func (w *world) emitted() []string {
	var reasons []string
	for len(w.events) > 0 {
		reasons = append(reasons, strings.Fields(<-w.events)[1])
	}
	return reasons
}

// conditions returns those of a change, each as TYPE=STATUS/REASON, in the order of their types.
func conditions(r *v1alpha1.Remediation) []string {
	var all []string
	for _, c := range r.Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(all)
	return all
}

// message returns that of a condition.
func message(r *v1alpha1.Remediation, kind string) string {
	if c := meta.FindStatusCondition(r.Status.Conditions, kind); c != nil {
		return c.Message
	}
	return ""
}

// podOn is a pod of the ReplicaSet cart with a CPU limit of 300m.
func podOn(name, node string, created time.Time) *corev1.Pod {
	amounts := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("1Gi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m")},
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(created), Labels: map[string]string{"app": "cart"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "cart", UID: "uid-replicaset", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "app", Resources: *amounts.DeepCopy()}}, TerminationGracePeriodSeconds: new(int64(30))},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: new(metav1.NewTime(created)),
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Resources: amounts.DeepCopy()}},
		},
	}
}

// cart is the pod that tests change.
func cart() *corev1.Pod { return podOn("cart-1", "node-1", noon.Add(-time.Hour)) }

// automatic is a policy that makes changes of all pods.
func automatic(change ...func(*v1alpha1.RemediationPolicySpec)) *v1alpha1.RemediationPolicy {
	p := &v1alpha1.RemediationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))},
		Spec: v1alpha1.RemediationPolicySpec{
			Mode: v1alpha1.RemediationAutomatic, Allow: []string{v1alpha1.ActionMove, v1alpha1.ActionRaiseLimit},
		},
	}
	for _, c := range change {
		c(&p.Spec)
	}
	return p
}

// proposed is a change of the pod.
func proposed(c v1alpha1.RemediationChange, change ...func(*v1alpha1.Remediation)) *v1alpha1.Remediation {
	r := &v1alpha1.Remediation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "change", UID: "uid-change", CreationTimestamp: metav1.NewTime(noon), Generation: 1},
		Spec: v1alpha1.RemediationSpec{
			Policy: "shop", Pod: v1alpha1.RemediationPod{Name: "cart-1", UID: "uid-cart-1", Node: "node-1"},
			Workload: &v1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"}, Change: c,
			Prediction: v1alpha1.RemediationPrediction{Win: remediations.Quantity(0.5), Low: remediations.Quantity(0.4), High: remediations.Quantity(0.6)},
		},
	}
	for _, c := range change {
		c(r)
	}
	return r
}

// raise raises the limit of the pod, and move moves it.
func raise(change ...func(*v1alpha1.Remediation)) *v1alpha1.Remediation {
	return proposed(v1alpha1.RemediationChange{
		Action: v1alpha1.ActionRaiseLimit, Container: "app", Limit: &v1alpha1.CPUChange{From: new(resource.MustParse("300m")), To: new(resource.MustParse("1"))},
	}, change...)
}

func move(change ...func(*v1alpha1.Remediation)) *v1alpha1.Remediation {
	return proposed(v1alpha1.RemediationChange{Action: v1alpha1.ActionMove, ToNode: "node-2"}, change...)
}

// limit returns the CPU limit of a pod.
func limit(pod *corev1.Pod) string { return pod.Spec.Containers[0].Resources.Limits.Cpu().String() }
