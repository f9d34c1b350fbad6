package calibration

import (
	"context"
	"errors"
	"fmt"
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
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/test/journal"
)

// world is a cluster with a reconciler in it.
type world struct {
	client.Client
	*Reconciler
	clock    *testingclock.FakePassiveClock
	recorder *events.FakeRecorder
	counts   *prometheus.Registry
	journal  *journal.Journal
	refuse   func(verb string) error // nil lets everything through
	metrics  *Metrics
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{clock: testingclock.NewFakePassiveClock(noon.Time), recorder: events.NewFakeRecorder(100), counts: prometheus.NewRegistry()}
	w.journal = journal.New(t, w.clock)
	check := func(verb string) error {
		if w.refuse == nil {
			return nil
		}
		return w.refuse(verb)
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.NodeProfile{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.Node{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
			if p, ok := o.(*corev1.Pod); ok {
				return []string{p.Spec.NodeName}
			}
			return nil
		}).
		WithIndex(&corev1.Event{}, "involvedObject.uid", func(client.Object) []string { return nil }).
		WithInterceptorFuncs(interceptor.Funcs{
			Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				if err := check("apply"); err != nil {
					return err
				}
				if err := c.Apply(ctx, o, opts...); err != nil {
					return err
				}
				return identify(ctx, c)
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				if err := check("delete"); err != nil {
					return err
				}
				return c.Delete(ctx, o, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				if err := check("status"); err != nil {
					return err
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	w.Client = interceptor.NewClient(server, w.journal.Writes())
	w.metrics = NewMetrics(w.counts)
	w.restart()
	return w
}

// identify gives Jobs a uid, as an API server does.
func identify(ctx context.Context, c client.Client) error {
	var jobs batchv1.JobList
	if err := c.List(ctx, &jobs); err != nil {
		return err
	}
	for i := range jobs.Items {
		if job := &jobs.Items[i]; job.UID == "" {
			job.UID = types.UID("uid of " + job.Name)
			if err := c.Update(ctx, job); err != nil {
				return err
			}
		}
	}
	return nil
}

// restart starts the controller anew: it forgets all that it knew.
func (w *world) restart() {
	s := settings()
	w.Reconciler = &Reconciler{
		Client: w.Client, API: w.Client, Made: w.Client, Recorder: w.journal.Recorder(w.recorder), Clock: w.clock,
		Settings: s, Slots: slots.New(s.MaxParallel, w.clock), Metrics: w.metrics,
	}
}

var theProfile = reconcile.Request{NamespacedName: types.NamespacedName{Name: "fast"}}

// reconcile takes the profile a step further.
func (w *world) reconcile(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := w.Reconcile(t.Context(), theProfile)
	if err != nil {
		t.Fatal(err)
	}
	w.journal.Looked(result)
	return result
}

// dies has the controller die before it can do something, and starts it anew.
func (w *world) dies(t *testing.T, before string) {
	t.Helper()
	w.refuse = func(verb string) error {
		if verb == before {
			return errors.New("the controller was killed")
		}
		return nil
	}
	if _, err := w.Reconcile(t.Context(), theProfile); err == nil {
		t.Errorf("the controller did not get to the %s", before)
	}
	w.refuse = nil
	w.restart()
}

func (w *world) profile(t *testing.T) *v1alpha1.NodeProfile {
	t.Helper()
	p := &v1alpha1.NodeProfile{}
	if err := w.Get(t.Context(), theProfile.NamespacedName, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// calibrated returns the condition in one line.
func (w *world) calibrated(t *testing.T) string {
	t.Helper()
	c := meta.FindStatusCondition(w.profile(t).Status.Conditions, v1alpha1.ConditionCalibrated)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func (w *world) wantCalibrated(t *testing.T, want string) {
	t.Helper()
	if got := w.calibrated(t); got != want {
		t.Errorf("the condition is\n%s, want\n%s", got, want)
	}
}

// jobs lists the Jobs by step and node.
func (w *world) jobs(t *testing.T) []batchv1.Job {
	t.Helper()
	var list batchv1.JobList
	if err := w.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// job returns the only Job.
func (w *world) job(t *testing.T) *batchv1.Job {
	t.Helper()
	all := w.jobs(t)
	if len(all) != 1 {
		t.Fatalf("there are %d Jobs, want 1", len(all))
	}
	return &all[0]
}

// pod makes the pod of the only Job.
func (w *world) pod(t *testing.T, status corev1.PodStatus) *corev1.Pod {
	t.Helper()
	job := w.job(t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name + "-x", Annotations: job.Annotations,
			Labels:          map[string]string{probejob.MeasurementKey: "fast-uid", batchv1.ControllerUidLabel: string(job.UID)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}},
		},
		Spec:   job.Spec.Template.Spec,
		Status: status,
	}
	pod.Spec.NodeName = job.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
	if err := w.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// collect removes the pods whose Jobs are gone, as the garbage collector does.
func (w *world) collect(t *testing.T) {
	t.Helper()
	if err := w.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("loadline")); err != nil {
		t.Fatal(err)
	}
}

func state(phase corev1.PodPhase, s corev1.ContainerState) corev1.PodStatus {
	return corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: probejob.ProbeContainer, State: s}}}
}

func runs() corev1.PodStatus {
	return state(corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: noon}})
}

func endsWell(message string) corev1.PodStatus {
	return state(corev1.PodSucceeded, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message, StartedAt: noon}})
}

func endsBadly(code int32, message string) corev1.PodStatus {
	return state(corev1.PodFailed, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, StartedAt: noon}})
}

func (w *world) emitted() []string {
	var emitted []string
	for len(w.recorder.Events) > 0 {
		emitted = append(emitted, <-w.recorder.Events)
	}
	return emitted
}

func TestAProfileIsCalibratedThoughTheControllerDiesAtEveryStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fast(), ready("worker-1"))

	w.dies(t, "status")
	if got := w.jobs(t); len(got) != 0 || w.calibrated(t) != "" {
		t.Errorf("there are %d Jobs of which the status says nothing", len(got))
	}
	w.dies(t, "apply")
	w.wantCalibrated(t, "False Calibrating: cpu is being calibrated on node worker-1")
	w.reconcile(t)
	if job := w.job(t); !strings.HasPrefix(job.Annotations[probejob.StepKey], "calibrate-cpu-") || !metav1.IsControlledBy(job, fast()) {
		t.Errorf("the Job is for the step %s and belongs to %+v", job.Annotations[probejob.StepKey], job.OwnerReferences)
	}

	w.restart()
	w.reconcile(t)
	w.pod(t, runs())
	w.restart()
	w.reconcile(t)
	w.wantCalibrated(t, "False Calibrating: cpu is being calibrated on node worker-1")
	w.collect(t)
	w.pod(t, endsWell(left(t, "cpu", 2)))
	w.clock.SetTime(noon.Add(time.Minute))
	w.dies(t, "status")
	w.job(t) // is still there, with its result
	w.dies(t, "delete")
	w.wantCalibrated(t, "False Calibrating: disk is calibrated next")
	w.reconcile(t) // removes the Job of cpu, which belongs to nothing that goes on
	if got := w.jobs(t); len(got) != 0 {
		t.Errorf("%d Jobs are left", len(got))
	}
	w.collect(t)

	w.dies(t, "apply")
	w.reconcile(t)
	w.pod(t, endsWell(left(t, "disk-read", 4)))
	w.restart()
	w.reconcile(t)
	w.collect(t)
	w.restart()
	w.reconcile(t)
	w.wantCalibrated(t, "True Calibrated: the servers are cpu 2 (node worker-1), disk 4 (node worker-1)")
	want := []v1alpha1.CalibratedResource{
		calibrated(ask(fast(), "cpu"), 2, metav1.NewTime(noon.Add(time.Minute))), calibrated(ask(fast(), "disk"), 4, metav1.NewTime(noon.Add(time.Minute))),
	}
	sameTime := cmp.Comparer(func(a, b metav1.Time) bool { return a.Equal(&b) })
	if diff := cmp.Diff(want, w.profile(t).Status.Resources, sameTime); diff != "" {
		t.Errorf("unexpected results (-want +got):\n%s", diff)
	}
	if len(w.jobs(t)) != 0 || w.profile(t).Status.Calibrating != nil || !w.Slots.Acquire(other, "worker-1") {
		t.Error("something is left behind")
	}
	wantEvents := []string{
		"Normal Calibrating cpu is being calibrated on node worker-1",
		"Normal Calibrated the servers are cpu 2 (node worker-1), disk 4 (node worker-1)",
	}
	if diff := cmp.Diff(wantEvents, w.emitted()); diff != "" {
		t.Errorf("unexpected events (-want +got):\n%s", diff)
	}
	const counts = `
# HELP loadline_calibrations_total Calibrations of a resource of a NodeProfile that have ended, by whether they found the servers (calibrated), could not keep the resource busy (unsaturated), failed, or were interrupted too often.
# TYPE loadline_calibrations_total counter
loadline_calibrations_total{outcome="calibrated"} 2
loadline_calibrations_total{outcome="failed"} 0
loadline_calibrations_total{outcome="interrupted"} 0
loadline_calibrations_total{outcome="unsaturated"} 0
`
	if err := testutil.GatherAndCompare(w.counts, strings.NewReader(counts), "loadline_calibrations_total"); err != nil {
		t.Error(err)
	}
	before := w.profile(t)
	if again := w.reconcile(t).RequeueAfter; again != 90*24*time.Hour {
		t.Errorf("looks again after %v", again)
	}
	if diff := cmp.Diff(before, w.profile(t)); diff != "" {
		t.Errorf("nothing changed, and written again (-before +after):\n%s", diff)
	}
}

func TestARunThatGoesOnIsAttendedTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fast(v1alpha1.ProbedResource{Name: "cpu"}), ready("worker-1"))
	w.reconcile(t)
	job := &w.jobs(t)[0]
	job.Status.StartTime = &noon
	if err := w.Status().Update(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	w.pod(t, runs())
	before := *job.Spec.ActiveDeadlineSeconds
	w.clock.SetTime(noon.Add(100 * time.Second))
	w.reconcile(t)
	if after := *w.jobs(t)[0].Spec.ActiveDeadlineSeconds; after != before+100 {
		t.Errorf("it may run for %d s, and for %d s after 100 s", before, after)
	}
}

func TestARunWhoseNodeIsLostIsBegunAgainOnAnother(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lose func(*world, *corev1.Node) error
		why  string
	}{
		"a node that is removed": {
			func(w *world, n *corev1.Node) error { return w.Delete(t.Context(), n) }, "it is no longer there",
		},
		"a node that does not answer, and so keeps its pod": {
			func(w *world, n *corev1.Node) error {
				n.Status.Conditions[0].Status = corev1.ConditionUnknown
				return w.Status().Update(t.Context(), n)
			}, "it is not ready",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fast(v1alpha1.ProbedResource{Name: "cpu"}), ready("worker-1"), ready("worker-2"))
			w.reconcile(t)
			lost := ready(w.pod(t, runs()).Spec.NodeName)
			if err := test.lose(w, lost); err != nil {
				t.Fatal(err)
			}
			w.restart()
			w.reconcile(t)
			w.wantCalibrated(t, fmt.Sprintf("False Calibrating: cpu is calibrated again: node %s was lost: %s", lost.Name, test.why))
			if got := w.jobs(t); len(got) != 0 {
				t.Errorf("%d Jobs are left", len(got))
			}
			w.restart()
			w.clock.SetTime(noon.Add(time.Minute))
			w.reconcile(t)
			progress := w.profile(t).Status.Calibrating
			if progress.Node == lost.Name || *progress.Attempts != 2 || !progress.StartTime.Equal(&noon) {
				t.Errorf("what goes on is %+v", progress)
			}
			w.pod(t, endsWell(left(t, "cpu", 2)))
			w.reconcile(t)
			w.wantCalibrated(t, fmt.Sprintf("True Calibrated: the servers are cpu 2 (node %s)", progress.Node))
		})
	}
}

func TestTheNextRunWaitsUntilThePodOfTheLastIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fast(), ready("worker-1"), ready("worker-2"))
	w.reconcile(t)
	w.pod(t, runs())
	changed := w.profile(t)
	changed.Spec.Calibration.MaxServers = new(int32(8))
	if err := w.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	w.clock.SetTime(noon.Add(time.Minute))
	for range 2 {
		w.restart()
		w.reconcile(t)
		if len(w.jobs(t)) != 0 || w.Slots.Acquire(other, w.profile(t).Status.Calibrating.Node) {
			t.Errorf("there are %d Jobs, or the node is free, while the pod still runs", len(w.jobs(t)))
		}
	}
	w.collect(t)
	w.reconcile(t)
	w.job(t)
}

func TestAProbeThatFailsIsNotTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]corev1.PodStatus{
		"a probe that ended badly":        endsBadly(1, "no such device"),
		"a probe whose result is cut off": endsWell(left(t, "cpu", 2)[:50]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fast(v1alpha1.ProbedResource{Name: "cpu"}), ready("worker-1"))
			w.reconcile(t)
			w.pod(t, status)
			w.reconcile(t)
			w.collect(t)
			said := w.calibrated(t)
			if !strings.HasPrefix(said, "False ProbeFailed: cpu: ") {
				t.Errorf("the condition is %s", said)
			}
			if got := w.emitted(); len(got) != 2 || !strings.HasPrefix(got[1], "Warning ProbeFailed cpu: ") {
				t.Errorf("the events are %q", got)
			}
			if again := w.reconcile(t).RequeueAfter; again != pause || len(w.jobs(t)) != 0 {
				t.Errorf("looks again after %v, with %d Jobs", again, len(w.jobs(t)))
			}
			w.wantCalibrated(t, said)
			w.clock.SetTime(noon.Add(pause))
			w.reconcile(t)
			w.job(t)
		})
	}
}

func TestACalibrationWaitsForAQuietNode(t *testing.T) {
	t.Parallel()
	cart := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}, Spec: corev1.PodSpec{NodeName: "worker-1"}}
	w := newWorld(t, fast(), ready("worker-1"), cart)
	if again := w.reconcile(t).RequeueAfter; again != waitEvery {
		t.Errorf("looks again after %v", again)
	}
	w.wantCalibrated(t, "False NoQuietNode: other pods run on every node that was looked at: node worker-1: pod shop/cart runs there")
	if err := w.Delete(t.Context(), cart); err != nil {
		t.Fatal(err)
	}
	w.reconcile(t)
	w.job(t)
}

// other is another owner that measures.
var other = slots.Owner{Namespace: "shop", UID: "web-uid"}

// probing is a pod of the other's measurement, by its label and its owner.
func probing() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "probe", Labels: map[string]string{probejob.MeasurementKey: "web-uid"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "web", UID: "job-uid", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "worker-1"},
	}
}

func TestAPodIsNotOfAMeasurementForItsLabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fast(), ready("worker-1"), probing())
	w.reconcile(t)
	w.wantCalibrated(t, "False NoQuietNode: other pods run on every node that was looked at: node worker-1: pod shop/probe runs there")
}

func TestACalibrationWaitsForThePodsOfMeasurementsThatHaveEnded(t *testing.T) {
	t.Parallel()
	probe := probing()
	w := newWorld(t, fast(), ready("worker-1"), probe)
	w.Slots.Acquire(other, "worker-1")
	w.Slots.Release(other.UID)
	w.reconcile(t)
	w.wantCalibrated(t, "False Queued: other measurements use the nodes of this profile, or as many go on as may at once")
	if err := w.Delete(t.Context(), probe); err != nil {
		t.Fatal(err)
	}
	w.reconcile(t)
	w.job(t)
}

func TestACalibrationWaitsForTheMeasurementsOfOthers(t *testing.T) {
	t.Parallel()
	web := &v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web-uid"}}
	web.Status.Measuring = &v1alpha1.MeasurementProgress{Node: "worker-2"}
	w := newWorld(t, fast(), ready("worker-1"), web) // one at a time in the cluster
	w.reconcile(t)
	w.wantCalibrated(t, "False Queued: other measurements use the nodes of this profile, or as many go on as may at once")
	w.Slots.Release("web-uid")
	w.reconcile(t)
	w.job(t)
	if w.Slots.Acquire(other, "worker-2") {
		t.Error("the calibration did not take its slot")
	}
}

func TestACalibrationThatNobodyWantsGoesWithItsResults(t *testing.T) {
	t.Parallel()
	profile := fast()
	profile.Status.Resources = []v1alpha1.CalibratedResource{calibrated(ask(fast(), "cpu"), 2, noon)}
	profile.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Declared", LastTransitionTime: noon}}
	w := newWorld(t, profile, ready("worker-1"))
	w.reconcile(t)
	w.job(t)
	changed := w.profile(t)
	changed.Spec.Calibration = nil
	if err := w.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.reconcile(t)
	w.reconcile(t)
	status := w.profile(t).Status
	if len(w.jobs(t)) != 0 || status.Calibrating != nil || len(status.Resources) != 0 || !w.Slots.Acquire(other, "worker-1") {
		t.Errorf("something is left behind: %+v", status)
	}
	if len(status.Conditions) != 1 || status.Conditions[0].Type != v1alpha1.ConditionReady {
		t.Errorf("the conditions are %+v", status.Conditions)
	}
}

func TestAStatusThatAnotherChangedIsReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fast(), ready("worker-1"))
	w.refuse = func(string) error {
		return apierrors.NewConflict(schema.GroupResource{Group: "loadline.dev", Resource: "nodeprofiles"}, "fast", errors.New("changed"))
	}
	if again := w.reconcile(t).RequeueAfter; again != conflictDelay || len(w.jobs(t)) != 0 {
		t.Errorf("looks again after %v, with %d Jobs", again, len(w.jobs(t)))
	}
	w.refuse = nil
	w.reconcile(t)
	w.job(t)
}

func TestAJobOfAnotherIsLeftAlone(t *testing.T) {
	t.Parallel()
	theirs := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "loadline", Name: "theirs", Labels: map[string]string{probejob.MeasurementKey: "fast-uid"}}}
	w := newWorld(t, fast(), ready("worker-1"), theirs)
	w.reconcile(t)
	if got := w.jobs(t); len(got) != 2 {
		t.Errorf("there are %d Jobs, want theirs and ours", len(got))
	}
}

func TestNothingIsDoneForAProfileThatIsGoneOrGoing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if result := w.reconcile(t); !result.IsZero() {
		t.Errorf("the result is %+v", result)
	}
	going := fast()
	going.DeletionTimestamp, going.Finalizers = new(noon), []string{"example.test/keep"}
	w = newWorld(t, going, ready("worker-1"))
	if result := w.reconcile(t); !result.IsZero() || len(w.jobs(t)) != 0 {
		t.Errorf("the result is %+v, with %d Jobs", result, len(w.jobs(t)))
	}
}
