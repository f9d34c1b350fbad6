package integration

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
)

// The control plane is the shared one because its garbage collector knows of
// TraceReplays by now: it learns of a new kind of owner every half a minute.
func TestATraceReplayRunsOnTheCluster(t *testing.T) {
	t.Parallel()
	e := shared
	e.startManagerWithItsRole(t)

	t.Run("it gives the answer of the command line", func(t *testing.T) {
		t.Parallel()
		p := e.newPlace(t, 0)
		kubelet := p.startKubelet(t, nil)
		replay, profile := p.generated()
		question := replay.DeepCopy()
		must(t, p.Create(t.Context(), replay))
		p.awaitComplete(t, replay, metav1.ConditionFalse, v1alpha1.ReasonInvalid, `"job"`)
		must(t, p.Create(t.Context(), profile))
		p.awaitComplete(t, replay, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, "4 runs ended well")

		status := replay.Status
		if *status.Runs.Succeeded != 4 || len(status.Results) != 2 || status.Best == "" || status.CompletionTime == nil {
			t.Errorf("unexpected status: %+v", status)
		}
		if starts := kubelet.Starts(); len(starts) != 4 {
			t.Errorf("%d processes for 4 runs: %v", len(starts), starts)
		}
		profile.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "WorkloadProfile"}
		want := p.answerOfTheCommandLine(t, nil, question, profile)
		if diff := cmp.Diff(want, p.reported(t, replay)); diff != "" {
			t.Errorf("the cluster's answer is another than the command line's (-command line +cluster):\n%s", diff)
		}
		line := map[string]any{
			"Name": "generated", "Runs": 4.0, "Done": 4.0, "Failed": 0.0, "Best": replay.Status.Best, "Complete": "True", "Reason": "Succeeded",
		}
		if diff := cmp.Diff(line, p.listed(t, replay)); diff != "" {
			t.Errorf("kubectl get shows (-want +got):\n%s", diff)
		}
		p.awaitEvent(t, v1alpha1.ReasonSucceeded)
		p.awaitNothingLeft(t)
	})

	for name, trace := range map[string]struct {
		format, file string
		jobs         int64
	}{
		"lublin.256":          {v1alpha1.TraceFormatSWF, "lublin/lublin_256.swf.gz", 10_000}, // a name that no Job can have
		"pods-of-gpu-cluster": {v1alpha1.TraceFormatOpenB, "openb/openb_pod_list_first_2000.csv", 1842},
	} {
		t.Run("a whole trace is replayed as recorded, "+trace.format, func(t *testing.T) {
			t.Parallel()
			p := e.newPlace(t, 0)
			p.startKubelet(t, nil)
			file := filepath.Join(root, "test", "testdata", filepath.FromSlash(trace.file))
			content, err := os.ReadFile(filepath.Clean(file))
			must(t, err)
			key := filepath.Base(file)
			replay, _ := p.generated()
			replay.Name = name
			replay.Spec.Arrivals = nil
			replay.Spec.Trace = &v1alpha1.ReplayTrace{Format: trace.format, ConfigMap: &v1alpha1.ConfigMapKey{Name: "traces", Key: key}}
			replay.Spec.Nodes = []v1alpha1.ReplayNodes{{
				Name: "large", Count: new(int32(4)),
				Resources: []v1alpha1.ReplayResource{{Name: "cpu", Servers: new(int32(256))}, {Name: "gpu", Servers: new(int32(64))}},
			}}
			question := replay.DeepCopy()
			must(t, p.Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "traces"}, BinaryData: map[string][]byte{key: content},
			}))
			must(t, p.Create(t.Context(), replay))
			p.awaitComplete(t, replay, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, "4 runs ended well")
			for _, result := range replay.Status.Results {
				if *result.Jobs != 2*trace.jobs || *result.Dropped != 0 {
					t.Errorf("%s: %d jobs done and %d dropped with two seeds, want %d and 0", result.Policy, *result.Jobs, *result.Dropped, 2*trace.jobs)
				}
			}
			want := p.answerOfTheCommandLine(t, []string{"--trace", file}, question)
			if diff := cmp.Diff(want, p.reported(t, replay)); diff != "" {
				t.Errorf("the cluster's answer is another than the command line's (-command line +cluster):\n%s", diff)
			}
			p.awaitNothingLeft(t)
		})
	}

	t.Run("what became of each job is on the volume", func(t *testing.T) {
		t.Parallel()
		p := e.newPlace(t, 0)
		volume, err := p.startKubelet(t, nil).Claim("data")
		must(t, err)
		trace := filepath.Join(volume, "traces", "week.csv.gz")
		must(t, os.Mkdir(filepath.Dir(trace), 0o750))
		must(t, writeGzip(trace, "#loadline-trace/v1\narrival,type\n0,job\n0.5,job\n0.9,job\n"))
		replay, profile := p.generated()
		replay.Spec.Arrivals = nil
		replay.Spec.Trace = &v1alpha1.ReplayTrace{PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "data", Path: "traces/week.csv.gz"}}
		replay.Spec.Output = &v1alpha1.ReplayOutput{PersistentVolumeClaim: v1alpha1.ClaimPath{ClaimName: "data", Path: "jobs/of/week"}}
		question := replay.DeepCopy()
		must(t, p.Create(t.Context(), profile))
		must(t, p.Create(t.Context(), replay))
		p.awaitComplete(t, replay, metav1.ConditionFalse, v1alpha1.ReasonPending, `waiting for PersistentVolumeClaim "data", which does not exist`)
		must(t, p.Create(t.Context(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}))
		p.awaitComplete(t, replay, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, "4 runs ended well")

		local := t.TempDir()
		profile.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "WorkloadProfile"}
		p.answerOfTheCommandLine(t, []string{"--trace", trace, "--jobs-to", local}, question, profile)
		want, got := filesOf(t, local), filesOf(t, filepath.Join(volume, "jobs", "of", "week"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the files are others than the command line's (-command line +cluster):\n%s", diff)
		}
		for _, name := range []string{"round-robin-1.csv", "round-robin-2.csv", "least-dilation-1.csv", "least-dilation-2.csv"} {
			if rows := strings.Count(got[name], "\n"); rows != 1+3 {
				t.Errorf("%s has %d lines, want a header and 3 jobs:\n%s", name, rows, got[name])
			}
		}
	})

	t.Run("a bad trace is named with its line and the rule", func(t *testing.T) {
		t.Parallel()
		p := e.newPlace(t, 0)
		kubelet := p.startKubelet(t, nil)
		must(t, p.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "traces"},
			Data:       map[string]string{"week.csv": "#loadline-trace/v1\narrival,type\n1,job\nbad,job\n"},
		}))
		replay, profile := p.generated()
		replay.Spec.Arrivals, replay.Spec.Seeds = nil, new(int32(100))
		replay.Spec.Trace = &v1alpha1.ReplayTrace{ConfigMap: &v1alpha1.ConfigMapKey{Name: "traces", Key: "week.csv"}}
		must(t, p.Create(t.Context(), profile))
		must(t, p.Create(t.Context(), replay))
		p.awaitComplete(t, replay, metav1.ConditionFalse, v1alpha1.ReasonFailed, `week.csv, line 4: arrival "bad"`)
		if *replay.Status.Runs.Failed != 200 || replay.Status.Report != nil {
			t.Errorf("unexpected status: %+v", replay.Status)
		}
		if starts := len(kubelet.Starts()); starts > 20 {
			t.Errorf("%d of 200 runs were tried with the same bad trace", starts)
		}
		p.awaitEvent(t, v1alpha1.ReasonFailed)
		p.awaitNothingLeft(t)
	})

	t.Run("deleting it cancels it", func(t *testing.T) {
		t.Parallel()
		p := e.newPlace(t, 0)
		p.startKubelet(t, newGate(2).pass)
		replay, profile := p.generated()
		must(t, p.Create(t.Context(), profile))
		must(t, p.Create(t.Context(), replay))
		p.awaitComplete(t, replay, metav1.ConditionFalse, v1alpha1.ReasonRunning, "2 of 4 runs ended")
		if made := p.made(t); len(made) != 7 {
			t.Errorf("a replay on its way has a Job, 4 pods and 2 ConfigMaps, got %v", made)
		}
		must(t, p.Delete(t.Context(), replay))
		p.awaitNothingLeft(t)
	})

	t.Run("its namespace is deleted in the middle of it", func(t *testing.T) {
		t.Parallel()
		p := e.newPlace(t, 0)
		p.startKubelet(t, newGate(2).pass)
		replay, profile := p.generated()
		must(t, p.Create(t.Context(), profile))
		must(t, p.Create(t.Context(), replay))
		p.awaitComplete(t, replay, metav1.ConditionFalse, v1alpha1.ReasonRunning, "2 of 4 runs ended")
		must(t, p.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}))
		p.awaitNamespaceGone(t)
	})
}

// awaitNamespaceGone waits until the namespace of the place is gone. Pods that are deleted before they have ended fail, as a kubelet has
// them.
func (p *place) awaitNamespaceGone(t *testing.T) {
	t.Helper()
	var pods corev1.PodList
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := p.List(ctx, &pods, client.InNamespace(p.namespace)); err != nil {
			return false, err
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.DeletionTimestamp == nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
				continue
			}
			before := pod.DeepCopy()
			pod.Status.Phase = corev1.PodFailed
			if err := client.IgnoreNotFound(p.Status().Patch(ctx, pod, client.MergeFrom(before))); err != nil {
				return false, err
			}
		}
		err := p.Get(ctx, client.ObjectKey{Name: p.namespace}, &corev1.Namespace{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		t.Errorf("waiting until the namespace is gone: %v; there are the pods %v", err, pods.Items)
	}
}

func TestAReplayOutlivesItsManagerAndItsPods(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 0)
	first, err := local.StartManager(t.Context(), manager, p.plane.Kubeconfig())
	must(t, err)
	held := newGate(2)
	kubelet := p.startKubelet(t, held.pass)
	replay, profile := p.generated()
	question := replay.DeepCopy()
	must(t, p.Create(t.Context(), profile))
	must(t, p.Create(t.Context(), replay))
	p.awaitComplete(t, replay, metav1.ConditionFalse, v1alpha1.ReasonRunning, "2 of 4 runs ended")
	must(t, first.Kill())

	// While no manager runs, a pod goes with its result, the other runs end, and the
	// profile changes.
	must(t, p.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(p.namespace), client.MatchingFields{"status.phase": string(corev1.PodSucceeded)}))
	close(held.opened)
	_, err = local.AwaitPods(t.Context(), p, p.namespace, func(pods map[string]*corev1.Pod) bool {
		succeeded := 0
		for _, pod := range pods {
			if pod.Status.Phase == corev1.PodSucceeded {
				succeeded++
			}
		}
		return succeeded == 2
	})
	must(t, err)
	changed := profile.DeepCopy()
	p.change(t, changed, func() { changed.Spec.NeutralMillis = new(int64(9000)) })

	p.startManager(t)
	p.awaitComplete(t, replay, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, "4 runs ended well")
	if starts := kubelet.Starts(); len(starts) != 4 {
		t.Errorf("4 runs took %d processes: %v", len(starts), starts)
	}
	profile.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "WorkloadProfile"}
	want := p.answerOfTheCommandLine(t, nil, question, profile)
	if diff := cmp.Diff(want, p.reported(t, replay)); diff != "" {
		t.Errorf("the answer is not that of the question as it was asked (-want +got):\n%s", diff)
	}
	p.awaitNothingLeft(t)
}
