package tracereplay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/slots"
)

// world is a cluster with a reconciler in it.
type world struct {
	client.Client
	*Reconciler
	events  chan string
	metrics *prometheus.Registry
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := &world{metrics: prometheus.NewRegistry()}
	c.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.TraceReplay{}, &batchv1.Job{}, &corev1.Pod{}).Build()
	recorder := events.NewFakeRecorder(100)
	c.events = recorder.Events
	metrics := NewMetrics(c.metrics)
	c.Reconciler = &Reconciler{
		Client: c.Client, API: c.Client, Made: c.Client, Recorder: recorder,
		Clock: testingclock.NewFakePassiveClock(noon.Time), Worker: *asked().worker, Metrics: metrics,
		Slots: slots.NewShared(4, testingclock.NewFakePassiveClock(noon.Time)),
	}
	return c
}

// reconcile takes compare a step further.
func (c *world) reconcile(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "compare"}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (c *world) replay(t *testing.T) *v1alpha1.TraceReplay {
	t.Helper()
	replay := &v1alpha1.TraceReplay{}
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "compare"}, replay); err != nil {
		t.Fatal(err)
	}
	return replay
}

// complete returns the reason and the message of the condition.
func (c *world) complete(t *testing.T) string {
	t.Helper()
	condition := meta.FindStatusCondition(c.replay(t).Status.Conditions, v1alpha1.ConditionComplete)
	if condition == nil {
		return ""
	}
	return condition.Reason + ": " + condition.Message
}

// emitted returns the events since it was asked last.
func (c *world) emitted() []string {
	var emitted []string
	for len(c.events) > 0 {
		emitted = append(emitted, <-c.events)
	}
	return emitted
}

// names lists all objects except the replay and its profile.
func (c *world) names(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &batchv1.JobList{}} {
		if err := c.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			accessor, err := meta.Accessor(o)
			names = append(names, accessor.GetName())
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return names
}

// run ends a run as the Job's pod would.
func (c *world) run(t *testing.T, job *batchv1.Job, index, run int) {
	t.Helper()
	if err := c.Create(t.Context(), podOf(job, index, succeeded(result(t, run)))); err != nil {
		t.Fatal(err)
	}
}

func (c *world) job(t *testing.T, name string) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: name}, job); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestAReplayRunsToItsEndAndLeavesOnlyItsReport(t *testing.T) {
	t.Parallel()
	c := newWorld(t, compare(), new(profiled()))
	c.reconcile(t)
	if diff := cmp.Diff([]string{"compare-question", "compare-runs-1"}, c.names(t)); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	job := c.job(t, "compare-runs-1")
	c.run(t, job, 0, 0)
	c.reconcile(t)
	if got := c.complete(t); got != "Running: 1 of 4 runs ended" {
		t.Errorf("after one run: %q", got)
	}
	if got := c.replay(t).Status; got.Best != "" || len(got.Results) != 1 || got.Results[0].Policy != "round-robin" {
		t.Errorf("after one run: best %q, results %+v", got.Best, got.Results)
	}

	// The pod goes, and with it its result: it is stored.
	if err := c.Delete(t.Context(), podOf(job, 0, corev1.PodStatus{})); err != nil {
		t.Fatal(err)
	}
	for index, run := range map[int]int{1: 2, 2: 1, 3: 3} {
		c.run(t, job, index, run)
	}
	c.reconcile(t)
	status := c.replay(t).Status
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionComplete) || len(status.Results) != 2 || *status.Runs.Succeeded != 4 {
		t.Errorf("at the end: %+v", status)
	}
	if diff := cmp.Diff(&v1alpha1.ConfigMapKey{Name: "compare-report", Key: "results.json"}, status.Report); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"compare-report"}, c.names(t)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	c.reconcile(t)
	want := []string{"Normal Running 0 of 4 runs ended", "Normal Succeeded 4 runs ended well; the mean response time is least with " + status.Best}
	if diff := cmp.Diff(want, c.emitted()); diff != "" {
		t.Errorf("unexpected events (-want +got):\n%s", diff)
	}
	const counts = `
# HELP loadline_replay_runs_total Runs of TraceReplays that have ended, by whether they succeeded or failed.
# TYPE loadline_replay_runs_total counter
loadline_replay_runs_total{result="failed"} 0
loadline_replay_runs_total{result="succeeded"} 4
`
	if err := testutil.GatherAndCompare(c.metrics, strings.NewReader(counts), "loadline_replay_runs_total"); err != nil {
		t.Error(err)
	}
}

func TestAManagerThatMayNotRunJobsSaysSo(t *testing.T) {
	t.Parallel()
	for what, resource := range map[string]string{"*v1.ConfigMap": "configmaps", "*v1.Job": "jobs"} {
		c := newWorld(t, compare(), new(profiled()))
		may := false
		c.Reconciler.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{ //nolint:errcheck // it is one
			Create: func(ctx context.Context, inner client.WithWatch, o client.Object, options ...client.CreateOption) error {
				if may || fmt.Sprintf("%T", o) != what {
					return inner.Create(ctx, o, options...)
				}
				return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, o.GetName(), fmt.Errorf(`User "manager" cannot create resource %q in the namespace "shop"`, resource))
			},
		})
		c.reconcile(t)
		if got, want := c.complete(t), "Pending: loadline-manager may not run Jobs in namespace shop: add it to rbac.replay.namespaces of the chart"; !strings.HasPrefix(got, want) {
			t.Errorf("without the right to create %s: %q, want %q", resource, got, want)
		}
		if c.replay(t).Status.StartTime != nil {
			t.Error("its time has begun to run")
		}
		others := []types.UID{"a", "b", "c", "d"} // as many as there are slots
		for _, other := range others {
			if !c.Slots.Acquire(slots.Owner{Namespace: string(other), UID: other}, string(other)) {
				t.Error("it keeps its slot from others")
			}
		}
		for _, other := range others {
			c.Slots.Release(other)
		}
		may = true
		c.pace.Forget(client.ObjectKeyFromObject(compare())) // as after a while
		c.reconcile(t)
		if got := c.complete(t); got != "Running: 0 of 4 runs ended" {
			t.Errorf("with the right to create %s: %q", resource, got)
		}
	}
}

func TestWhatIsMadeBelongsToTheReplay(t *testing.T) {
	t.Parallel()
	c := newWorld(t, compare(), new(profiled()))
	c.reconcile(t)
	job := c.job(t, "compare-runs-1")
	question := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "compare-question"}, question); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{job, question} {
		if !metav1.IsControlledBy(o, compare()) {
			t.Errorf("%s does not go with its replay: %+v", o.GetName(), o.GetOwnerReferences())
		}
	}
}

func TestAReplayWaitsForItsTrace(t *testing.T) {
	t.Parallel()
	replay := compare()
	replay.Spec.Arrivals = nil
	replay.Spec.Trace = &v1alpha1.ReplayTrace{ConfigMap: &v1alpha1.ConfigMapKey{Name: "traces", Key: "week.csv"}}
	replay.Spec.Output = &v1alpha1.ReplayOutput{PersistentVolumeClaim: v1alpha1.ClaimPath{ClaimName: "data", Path: "out"}}
	c := newWorld(t, replay, new(profiled()))
	traces := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "traces"}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data"}}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, `waiting for ConfigMap "traces", which does not exist`},
		{func() error { return c.Create(t.Context(), traces) }, `waiting for the key "week.csv" of ConfigMap "traces", which has 0 other keys`},
		{func() error {
			traces.Data, traces.BinaryData = map[string]string{"a.csv": ""}, map[string][]byte{"b.gz": nil}
			return c.Update(t.Context(), traces)
		}, `waiting for the key "week.csv" of ConfigMap "traces", which has 2 other keys`},
		{func() error {
			traces.BinaryData["week.csv"] = nil
			return c.Update(t.Context(), traces)
		}, `waiting for PersistentVolumeClaim "data", which does not exist`},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if again := c.reconcile(t).RequeueAfter; again != 10*time.Second {
			t.Errorf("%s: looks again after %v", step.want, again)
		}
		if got := c.complete(t); got != "Pending: "+step.want {
			t.Errorf("the condition is %q, want %q", got, step.want)
		}
	}
	if err := c.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if again := c.reconcile(t).RequeueAfter; again != 0 || c.complete(t) != "Running: 0 of 4 runs ended" {
		t.Errorf("all is there: %q, looks again after %v", c.complete(t), again)
	}
	want := []string{`Warning Pending waiting for ConfigMap "traces", which does not exist`, "Normal Running 0 of 4 runs ended"}
	if diff := cmp.Diff(want, c.emitted()); diff != "" {
		t.Errorf("unexpected events (-want +got):\n%s", diff)
	}
}

func TestAnObjectOfSomebodyElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "compare-report"}, Data: map[string]string{"precious": "data"}}
	c := newWorld(t, compare(), new(profiled()), theirs)
	c.reconcile(t)
	if got := c.complete(t); !strings.HasPrefix(got, `Pending: ConfigMap "compare-report" is in the way`) {
		t.Errorf("the condition is %q", got)
	}
	if diff := cmp.Diff([]string{"compare-report"}, c.names(t)); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}

	c = newWorld(t, compare(), new(profiled()), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "compare-runs-1"}})
	c.reconcile(t)
	if got := c.complete(t); !strings.HasPrefix(got, `Pending: Job "compare-runs-1" is in the way`) {
		t.Errorf("the condition is %q", got)
	}
	if diff := cmp.Diff([]string{"compare-runs-1"}, c.names(t)); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
}

func TestAReplayThatIsBeingDeletedStartsNothing(t *testing.T) {
	t.Parallel()
	replay := compare()
	replay.Finalizers, replay.DeletionTimestamp = []string{"foregroundDeletion"}, new(noon)
	c := newWorld(t, replay, new(profiled()))
	c.reconcile(t)
	if made := c.names(t); len(made) > 0 {
		t.Errorf("made %v", made)
	}
}

// The pods of a namespace are deleted before its Jobs, and a Job keeps pods that failed until others are in their place.
func TestTheJobsOfAReplayGoWithItsNamespace(t *testing.T) {
	t.Parallel()
	profile, namespace := profiled(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Finalizers: []string{"test/stays"}}}
	c := newWorld(t, compare(), &profile, namespace)
	c.reconcile(t)
	jobs := func() int {
		t.Helper()
		var list batchv1.JobList
		if err := c.List(t.Context(), &list, client.InNamespace("shop")); err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	if n := jobs(); n != 1 {
		t.Fatalf("%d Jobs before, want 1", n)
	}
	if err := c.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	if requests := c.inNamespace(t.Context(), namespace); len(requests) != 1 || requests[0].Name != "compare" {
		t.Errorf("the namespace wakes %v", requests)
	}
	for range 2 { // the second time there is nothing to begin again
		c.reconcile(t)
		if n := jobs(); n != 0 {
			t.Errorf("%d Jobs in a namespace that is being deleted", n)
		}
		if c := meta.FindStatusCondition(c.replay(t).Status.Conditions, v1alpha1.ConditionComplete); c.Reason != v1alpha1.ReasonRunning {
			t.Errorf("the replay is %s: %s", c.Reason, c.Message)
		}
	}
}

func TestAJobThatTheCacheDoesNotKnowYetIsNotAnError(t *testing.T) {
	t.Parallel()
	c := newWorld(t, compare(), new(profiled()))
	c.reconcile(t)
	stale := newWorld(t)
	c.Made = stale.Client
	c.reconcile(t)
	if diff := cmp.Diff([]string{"compare-question", "compare-runs-1"}, c.names(t)); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
}

func TestAProfileWakesTheReplaysThatHaveNotBegun(t *testing.T) {
	t.Parallel()
	waiting, running, done, elsewhere := compare(), compare(), compare(), compare()
	running.Name, running.Status.StartTime = "running", new(noon)
	done.Name, done.Status.CompletionTime = "done", new(noon)
	elsewhere.Namespace = "elsewhere"
	c := newWorld(t, waiting, running, done, elsewhere)
	inShop := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(waiting)}
	if diff := cmp.Diff([]reconcile.Request{inShop}, c.waiting(t.Context(), new(profiled()))); diff != "" {
		t.Errorf("a WorkloadProfile wakes (-want +got):\n%s", diff)
	}
	all := []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(elsewhere)}, inShop}
	if diff := cmp.Diff(all, c.waiting(t.Context(), &v1alpha1.NodeProfile{})); diff != "" {
		t.Errorf("a NodeProfile wakes (-want +got):\n%s", diff)
	}
}
