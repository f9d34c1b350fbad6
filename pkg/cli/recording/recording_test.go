package recording

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/trace"
)

// noon is when the pods of the tests are created.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// aPod returns a pod of the namespace etl that was created at a second and runs
// from the next one on.
func aPod(name string, created int, phase corev1.PodPhase) *corev1.Pod {
	at := func(seconds int) metav1.Time { return metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second)) }
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(created + 1)}}
	if phase == corev1.PodSucceeded {
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: at(created + 1), FinishedAt: at(created + 11)}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "etl", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "sort"}, CreationTimestamp: at(created),
		},
		Spec:   corev1.PodSpec{NodeName: "worker-1"},
		Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{State: state}}},
	}
}

func sortProfile() *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "sort"},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:      &metav1.LabelSelector{MatchLabels: map[string]string{"app": "sort"}},
			Resources:     []v1alpha1.ResourceDemand{{Name: "cpu", DemandMillis: new(int64(5000))}},
			NeutralMillis: new(int64(8000)),
		},
	}
}

// fakeCluster is a cluster that reports when its pods are being watched.
type fakeCluster struct {
	client.WithWatch
	watched chan struct{}
}

func newFakeCluster(t *testing.T, objects ...client.Object) *fakeCluster {
	t.Helper()
	scheme, err := access.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	return &fakeCluster{fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), make(chan struct{}, 1)}
}

func (f *fakeCluster) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	w, err := f.WithWatch.Watch(ctx, list, options...)
	select {
	case f.watched <- struct{}{}:
	default:
	}
	return w, err
}

// IsWatchListSemanticsUnSupported makes reflectors list before they watch.
func (*fakeCluster) IsWatchListSemanticsUnSupported() bool { return true }

func (f *fakeCluster) pods(t *testing.T, selector string) *recordedPods {
	t.Helper()
	s, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	return &recordedPods{client: f, namespace: "etl", selector: s}
}

// recorded returns the names of the jobs of a trace.
func recorded(t *testing.T, name string, in io.Reader) string {
	t.Helper()
	var names []string
	for job, err := range trace.Jobs(name, in, trace.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(job.Name, "etl/"))
	}
	return strings.Join(names, " ")
}

func recordedFile(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return recorded(t, path, file)
}

func TestRecordWritesTheFinishedPodsByArrival(t *testing.T) {
	t.Parallel()
	other := aPod("other", 0, corev1.PodSucceeded)
	other.Labels = nil
	elsewhere := aPod("elsewhere", 0, corev1.PodSucceeded)
	elsewhere.Namespace = "shop"
	cluster := newFakeCluster(t, sortProfile(), other, elsewhere,
		aPod("a", 9, corev1.PodSucceeded), aPod("b", 3, corev1.PodSucceeded), aPod("c", 5, corev1.PodRunning))
	for name, test := range map[string]struct {
		selector string
		all      bool
		running  bool
		want     string
	}{
		"of a namespace":               {want: "other b a"},
		"with a label":                 {selector: "app=sort", want: "b a"},
		"and those that run, if asked": {running: true, want: "other b c a"},
		"of all namespaces":            {all: true, want: "other shop/elsewhere b a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			r := &options{streams: verb.Streams{Out: verb.NewStream(&out), Err: verb.NewStream(&errs)}, to: "-", running: test.running}
			pods := cluster.pods(t, test.selector)
			if test.all {
				pods.namespace = ""
			}
			if err := r.record(t.Context(), pods); err != nil {
				t.Fatal(err)
			}
			if got := recorded(t, "out", &out); got != test.want {
				t.Errorf("recorded %q, want %q", got, test.want)
			}
			if !strings.HasPrefix(errs.String(), "Recorded ") {
				t.Errorf("the summary is %q", errs.String())
			}
		})
	}
}

func TestRecordSaysWhatTheTraceIsWorth(t *testing.T) {
	t.Parallel()
	other := aPod("other", 0, corev1.PodSucceeded)
	other.Labels = nil
	cluster := newFakeCluster(t, sortProfile(), other, aPod("a", 90, corev1.PodSucceeded), aPod("c", 5, corev1.PodRunning))
	path := filepath.Join(t.TempDir(), "trace.csv.gz")
	var errs bytes.Buffer
	r := &options{streams: verb.Streams{Err: verb.NewStream(&errs)}, to: path}
	if err := r.record(t.Context(), cluster.pods(t, "")); err != nil {
		t.Fatal(err)
	}
	want := "Recorded 2 jobs of 1 WorkloadProfile in " + path + `: arrivals from 2026-03-01T12:00:00Z to 2026-03-01T12:01:30Z.
For 1 job the neutral time is the time from start to end, which includes what other pods cost.
For 1 job that no WorkloadProfile matches the demands are assumed from requests.
Left out 1 pod: 1 still running (--include-running takes those whose profile has neutralMillis).
`
	if errs.String() != want {
		t.Errorf("the summary is\n%swant\n%s", errs.String(), want)
	}
	content, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		t.Errorf("the file is not compressed: %v", err)
	}
	if got := recordedFile(t, path); got != "other a" {
		t.Errorf("recorded %q, want other and a", got)
	}
}

func TestRecordWatchesUntilItIsEnded(t *testing.T) {
	t.Parallel()
	running := aPod("deleted", 4, corev1.PodRunning)
	cluster := newFakeCluster(t, sortProfile(), aPod("before", 9, corev1.PodSucceeded), running, aPod("runs", 1, corev1.PodRunning))
	path := filepath.Join(t.TempDir(), "trace.csv")
	var errs bytes.Buffer
	r := &options{streams: verb.Streams{Err: verb.NewStream(&errs)}, to: path, watch: true}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.record(ctx, cluster.pods(t, "")) }()
	<-cluster.watched
	for _, step := range []error{
		cluster.Create(t.Context(), aPod("during", 2, corev1.PodSucceeded)),
		cluster.Update(t.Context(), finishing(t, cluster, "before")), // once more: it counts once
		cluster.Delete(t.Context(), running),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	awaitSpooled(t, path+".spool", 3)
	end()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	// The fake cluster sets no time of deletion for the deleted one.
	if got := recordedFile(t, path); got != "during before" {
		t.Errorf("recorded %q, want during and before", got)
	}
	if !strings.Contains(errs.String(), "Left out 2 pods: 1 still running") {
		t.Errorf("the summary is %q", errs.String())
	}
	if _, err := os.Stat(path + ".spool"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the spool is still there: %v", err)
	}
}

func finishing(t *testing.T, c client.Client, name string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "etl", Name: name}, pod); err != nil {
		t.Fatal(err)
	}
	pod.Annotations = map[string]string{"touched": "true"}
	return pod
}

// awaitSpooled waits until a spool holds n pods.
func awaitSpooled(t *testing.T, path string, n int) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		content, err := os.ReadFile(path)
		return bytes.Count(content, []byte("\n")) == n+1, err
	})
	if err != nil {
		t.Fatalf("waiting for %d pods in %s: %v", n, path, err)
	}
}

func TestRecordEndsByItself(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.csv")
	r := &options{streams: verb.Streams{Err: verb.NewStream(io.Discard)}, to: path, watch: true, limit: 100 * time.Millisecond}
	if err := r.record(t.Context(), newFakeCluster(t, sortProfile(), aPod("a", 0, corev1.PodSucceeded)).pods(t, "")); err != nil {
		t.Fatal(err)
	}
	if got := recordedFile(t, path); got != "a" {
		t.Errorf("recorded %q, want a", got)
	}
}

func TestRecordWithoutAJobSaysWhyAndWritesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pods  []client.Object
		watch bool
		want  string
	}{
		"no pods":          {nil, false, "there are no pods, so there is no trace to write: check -n, -l and --since"},
		"none finished":    {[]client.Object{aPod("a", 0, corev1.PodRunning)}, false, "no pod makes a job, so there is no trace to write; left out 1 pod: 1 still running (--include-running"},
		"none while asked": {nil, true, "no pod finished, so there is no trace to write: check -n, -l and --since, or watch for longer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := &options{streams: verb.Streams{Err: verb.NewStream(io.Discard)}, to: filepath.Join(dir, "trace.csv"), watch: test.watch}
			if test.watch {
				r.limit = 100 * time.Millisecond
			}
			err := r.record(t.Context(), newFakeCluster(t, test.pods...).pods(t, ""))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
		})
	}
}

func TestRecordThatCannotWriteKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.csv")
	if err := os.Mkdir(path, 0o750); err != nil { // in the way of the trace
		t.Fatal(err)
	}
	cluster := newFakeCluster(t, sortProfile(), aPod("a", 0, corev1.PodSucceeded))
	r := &options{streams: verb.Streams{Err: verb.NewStream(io.Discard)}, to: path, watch: true, limit: 100 * time.Millisecond}
	err := r.record(t.Context(), cluster.pods(t, ""))
	if want := "What was recorded is in " + path + ".spool: the same command goes on with it"; err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("the error is %v, want %q", err, want)
	}
	if err := errors.Join(os.Remove(path), cluster.Delete(t.Context(), aPod("a", 0, ""))); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	r.streams.Err = verb.NewStream(&errs)
	if err := r.record(t.Context(), cluster.pods(t, "")); err != nil {
		t.Fatal(err)
	}
	if got := recordedFile(t, path); got != "a" {
		t.Errorf("recorded %q, want a", got)
	}
	if want := "Going on with 1 pod that an earlier recording left in " + path + ".spool\n"; !strings.HasPrefix(errs.String(), want) {
		t.Errorf("the errors are %q, want %q", errs.String(), want)
	}
}

// refusing is a cluster that does not list some objects.
type refusing struct {
	*fakeCluster
	refuse func(client.ObjectList) error
}

// List lists objects.
func (c *refusing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := c.refuse(list); err != nil {
		return err
	}
	return c.fakeCluster.List(ctx, list, options...)
}

func TestRecordNeedsNoResourceDefinitions(t *testing.T) {
	t.Parallel()
	cluster := &refusing{newFakeCluster(t, aPod("a", 0, corev1.PodSucceeded)), func(list client.ObjectList) error {
		if _, ok := list.(*v1alpha1.WorkloadProfileList); ok {
			return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "WorkloadProfile"}}
		}
		return nil
	}}
	pods := cluster.pods(t, "")
	pods.client = cluster
	var out, errs bytes.Buffer
	r := &options{streams: verb.Streams{Out: verb.NewStream(&out), Err: verb.NewStream(&errs)}, to: "-"}
	if err := r.record(t.Context(), pods); err != nil {
		t.Fatal(err)
	}
	if got := recorded(t, "out", &out); got != "a" {
		t.Errorf("recorded %q, want a", got)
	}
	const want = "Warning: the cluster has no WorkloadProfiles, since Loadline's resource definitions are not installed: demands are assumed from requests\n"
	if !strings.HasPrefix(errs.String(), want) {
		t.Errorf("the errors are %q, want %q", errs.String(), want)
	}
}

func TestRecordEndsAtOnceWhereItMayNotLook(t *testing.T) {
	t.Parallel()
	for _, watch := range []bool{false, true} {
		for kind, want := range map[string]string{"workloadprofiles": "listing WorkloadProfiles: ", "pods": "ing pods: "} {
			t.Run(fmt.Sprintf("%s, watching %t", kind, watch), func(t *testing.T) {
				t.Parallel()
				cluster := &refusing{newFakeCluster(t, aPod("a", 0, corev1.PodSucceeded)), func(list client.ObjectList) error {
					if _, ok := list.(*v1alpha1.WorkloadProfileList); ok == (kind == "workloadprofiles") {
						return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", errors.New("not for you"))
					}
					return nil
				}}
				pods := cluster.pods(t, "")
				pods.client = cluster
				dir := t.TempDir()
				r := &options{streams: verb.Streams{Err: verb.NewStream(io.Discard)}, to: filepath.Join(dir, "trace.csv"), watch: watch}
				err := r.record(t.Context(), pods)
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), kind+" is forbidden: not for you") {
					t.Errorf("the error is %v", err)
				}
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v (%v)", left, err)
				}
			})
		}
	}
}
