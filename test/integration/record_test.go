package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/trace"
)

// runOn creates a pod that requests 1.5 cores on the first node of the place, and
// waits until it runs.
func (p *place) runOn(t *testing.T, name, app string) *corev1.Pod {
	t.Helper()
	pod := p.pod(name, app)
	pod.Spec.NodeName = p.nodes[0]
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")}
	must(t, p.Create(t.Context(), pod))
	return p.awaitPod(t, name, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
}

// awaitPod waits until a pod is as it should be, and returns it.
func (p *place) awaitPod(t *testing.T, name string, done func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pods, err := local.AwaitPods(ctx, p, p.namespace, func(pods map[string]*corev1.Pod) bool {
		return pods[name] != nil && done(pods[name])
	})
	if err != nil {
		t.Fatalf("waiting for pod %s, which is %v: %v", name, pods[name], err)
	}
	return pods[name]
}

// complete ends a pod as its kubelet would, some seconds after it began.
func (p *place) complete(t *testing.T, pod *corev1.Pod, seconds int) {
	t.Helper()
	before := client.MergeFrom(pod.DeepCopy())
	start := pod.Status.ContainerStatuses[0].State.Running.StartedAt
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		Reason: "Completed", StartedAt: start, FinishedAt: metav1.NewTime(start.Add(time.Duration(seconds) * time.Second)),
	}}
	must(t, p.Status().Patch(t.Context(), pod, before))
}

// recording is a kubectl loadline record that runs.
type recording struct {
	command *exec.Cmd
	errors  bytes.Buffer
	to      string
}

// startRecording records the pods of a place.
func (p *place) startRecording(t *testing.T, to string, flags ...string) *recording {
	t.Helper()
	args := append([]string{"record", "--kubeconfig", p.plane.Kubeconfig(), "-n", p.namespace, "--to", to}, flags...)
	r := &recording{command: exec.CommandContext(t.Context(), plugin, args...), to: to}
	r.command.Stderr = &r.errors
	must(t, r.command.Start())
	return r
}

// end sends the command a signal, waits for it and returns its exit code.
func (r *recording) end(t *testing.T, signal os.Signal) int {
	t.Helper()
	must(t, r.command.Process.Signal(signal))
	var exit *exec.ExitError
	if err := r.command.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return r.command.ProcessState.ExitCode()
}

// awaitSpooled waits until pods with these names have been recorded.
func (r *recording) awaitSpooled(t *testing.T, names ...string) {
	t.Helper()
	var content []byte
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		content, _ = os.ReadFile(r.to + ".spool") // it may not be there yet
		for _, name := range names {
			if !bytes.Contains(content, fmt.Appendf(nil, `{"name":%q,`, name)) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("waiting for %v in the spool: %v\n%s", names, err, content)
	}
}

// readTrace returns the jobs of a trace by the names of their pods.
func readTrace(t *testing.T, path string) map[string]trace.Job {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	jobs := map[string]trace.Job{}
	for job, err := range trace.Jobs(filepath.Base(path), file, trace.Options{}) {
		must(t, err)
		name := job.Name[strings.Index(job.Name, "/")+1:]
		if _, again := jobs[name]; again {
			t.Errorf("%s is there twice", name)
		}
		jobs[name] = job
	}
	return jobs
}

func checkNames(t *testing.T, jobs map[string]trace.Job, want ...string) {
	t.Helper()
	for _, name := range want {
		if _, there := jobs[name]; !there {
			t.Errorf("%s was not recorded", name)
		}
	}
	if len(jobs) != len(want) {
		t.Errorf("%d jobs were recorded, want %v: %v", len(jobs), want, jobs)
	}
}

func TestRecordWritesATraceOfThePodsThatFinished(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	sorting := p.profile("sort", map[string]string{"cpu": "0.9", "disk": "0.1"})
	sorting.Spec.NeutralMillis = new(int64(56_000))
	must(t, p.Create(t.Context(), sorting))
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "nightly"},
		Spec: batchv1.JobSpec{
			Completions: new(int32(3)), Parallelism: new(int32(3)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "sort"}},
				Spec: corev1.PodSpec{
					NodeName: p.nodes[0], RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.test/none"}},
				},
			},
		},
	}
	must(t, p.Create(t.Context(), job))
	p.complete(t, p.runOn(t, "adhoc", "other"), 8)
	p.runOn(t, "service", "sort")
	_, err := local.AwaitPods(t.Context(), p, p.namespace, func(pods map[string]*corev1.Pod) bool {
		finished := 0
		for _, pod := range pods {
			if pod.Status.Phase == corev1.PodSucceeded {
				finished++
			}
		}
		return finished == 4
	})
	must(t, err)

	path := filepath.Join(t.TempDir(), "trace.csv.gz")
	r := p.startRecording(t, path)
	if err := r.command.Wait(); err != nil {
		t.Fatalf("%v: %s", err, r.errors.String())
	}
	jobs := readTrace(t, path)
	sorts := 0
	for name, job := range jobs {
		if strings.HasPrefix(name, "nightly-") && job.Type == p.namespace+"/sort" && job.Neutral == 0 && job.End.Happened && job.Node == p.nodes[0] {
			sorts++
		}
	}
	adhoc := jobs["adhoc"]
	if len(jobs) != 4 || sorts != 3 || len(adhoc.Demands) != 1 || len(adhoc.Requests) != 2 {
		t.Fatalf("the jobs are %v, want three of the profile and adhoc", jobs)
	}
	if adhoc.Neutral != 8 || adhoc.Demands[0] != (trace.ServiceDemand{Resource: "cpu", Seconds: 6, Threads: 2}) || adhoc.Requests[0].Amount != 1.5 {
		t.Errorf("adhoc is %+v, want 8 s, of which 1.5 cores keep each of 2 threads at the cpu for 6", adhoc)
	}
	if want := "Left out 1 pod: 1 still running"; !strings.Contains(r.errors.String(), want) {
		t.Errorf("the summary is %q, want %q", r.errors.String(), want)
	}
}

func TestARecordingGoesOnWhenTheAPIServerComesBack(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 1)
	first, second, third := p.runOn(t, "first", "x"), p.runOn(t, "second", "x"), p.runOn(t, "third", "x")
	r := p.startRecording(t, filepath.Join(t.TempDir(), "trace.csv"), "--watch")
	p.complete(t, first, 9)
	r.awaitSpooled(t, "first")
	must(t, p.plane.RestartAPIServer(t.Context()))
	p.complete(t, second, 5)
	must(t, p.Delete(t.Context(), third))
	r.awaitSpooled(t, "second", "third")
	if code := r.end(t, os.Interrupt); code != 0 {
		t.Fatalf("exit code %d: %s", code, r.errors.String())
	}
	jobs := readTrace(t, r.to)
	for name, job := range jobs {
		if name != "third" && job.Neutral == 0 {
			t.Errorf("%s has no neutral time: %+v", name, job)
		}
	}
	delete(jobs, "third") // it is left out if it ran for less than a second
	checkNames(t, jobs, "first", "second")
}

func TestARecordingThatIsKilledGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	first, second := p.runOn(t, "first", "x"), p.runOn(t, "second", "x")
	to := filepath.Join(t.TempDir(), "trace.csv")
	r := p.startRecording(t, to, "--watch")
	p.complete(t, first, 9)
	r.awaitSpooled(t, "first")
	r.end(t, syscall.SIGKILL)
	must(t, p.Delete(t.Context(), first, client.GracePeriodSeconds(0))) // now only the spool has it
	p.complete(t, second, 5)

	r = p.startRecording(t, to, "--watch")
	r.awaitSpooled(t, "first", "second")
	if code := r.end(t, os.Interrupt); code != 0 {
		t.Fatalf("exit code %d: %s", code, r.errors.String())
	}
	checkNames(t, readTrace(t, to), "first", "second")
	if _, err := os.Stat(to + ".spool"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the spool is still there: %v", err)
	}
}
