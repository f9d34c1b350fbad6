package record

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/trace"
)

// noon is when the first pods of the tests are created.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second))
}

// ran returns a pod of an app that was created at a second, and ran from one to
// another.
func ran(name, app string, created, start, end int, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "etl", Name: name, UID: types.UID(name), Labels: map[string]string{"app": app}, CreationTimestamp: at(created),
		},
		Spec: corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Name: "main"}}},
		Status: corev1.PodStatus{Phase: corev1.PodSucceeded, StartTime: new(at(start - 1)), ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", State: terminated(start, end)},
		}},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func terminated(start, end int) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: at(start), FinishedAt: at(end)}}
}

// stillRuns makes a pod one that runs.
func stillRuns(pod *corev1.Pod) {
	start := started(pod)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start)}}
}

func failed(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }

func requesting(amounts map[corev1.ResourceName]string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		list := corev1.ResourceList{}
		for name, amount := range amounts {
			list[name] = resource.MustParse(amount)
		}
		pod.Spec.Containers[0].Resources.Requests = list
	}
}

// limited gives the container a CPU limit, and the request that the API server sets for it.
func limited(cpu string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
	}
}

// profiles are one that knows its neutral time and one that does not.
var profiles = []v1alpha1.WorkloadProfile{
	{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "timed"},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:      &metav1.LabelSelector{MatchLabels: map[string]string{"app": "timed"}},
			Resources:     []v1alpha1.ResourceDemand{{Name: "disk", Loading: new(resource.MustParse("0.4"))}},
			NeutralMillis: new(int64(10_000)),
		},
	},
	{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "timeless"},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": "timeless"}},
			Resources: []v1alpha1.ResourceDemand{{Name: "disk", Loading: new(resource.MustParse("0.4"))}},
		},
	},
}

func recordingOf(t *testing.T, options Options, pods ...*corev1.Pod) *Recording {
	t.Helper()
	if options.Profiles == nil {
		options.Profiles = profiles
	}
	r, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		before := pod.DeepCopy()
		r.Add(pod)
		if diff := cmp.Diff(before, pod); diff != "" {
			t.Errorf("Add changed the pod: %s", diff)
		}
	}
	return r.Recording()
}

func moment(seconds float64) trace.Moment { return trace.Moment{At: seconds, Happened: true} }

func TestAPodBecomesAJob(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options
		pod     *corev1.Pod
		want    trace.Job
		reason  Reason
	}{
		"that follows a profile, which knows its neutral time": {
			pod:  ran("a", "timed", 0, 2, 30),
			want: trace.Job{Type: "etl/timed", Start: moment(2), End: moment(30)},
		},
		"that follows a profile without a neutral time, and takes its run time for it": {
			pod:  ran("a", "timeless", 0, 2, 30),
			want: trace.Job{Type: "etl/timeless", Neutral: 28, Start: moment(2), End: moment(30)},
		},
		"that failed, and so did not do all that its profile says": {
			pod:  ran("a", "timed", 0, 2, 30, failed),
			want: trace.Job{Type: "etl/timed", Neutral: 28, Start: moment(2), End: moment(30)},
		},
		"that follows no profile, with demands from its requests": {
			pod: ran("a", "other", 0, 2, 30, requesting(map[corev1.ResourceName]string{"cpu": "1500m", "memory": "1Gi"})),
			want: trace.Job{
				Neutral: 28, Start: moment(2), End: moment(30),
				Demands:  []trace.ServiceDemand{{Resource: "cpu", Seconds: 21, Threads: 2}}, // 28 s · 1.5 / 2
				Requests: []trace.Request{{Resource: "cpu", Amount: 1.5}, {Resource: "memory", Amount: 1 << 30}},
			},
		},
		"that follows no profile and requests nothing, with the least demand of the scheduler's rule": {
			pod: ran("a", "other", 0, 2, 32),
			want: trace.Job{
				Neutral: 30, Start: moment(2), End: moment(32), Demands: []trace.ServiceDemand{{Resource: "cpu", Seconds: 3, Threads: 1}},
			},
		},
		"that requests memory alone": {
			pod: ran("a", "timed", 0, 2, 30, requesting(map[corev1.ResourceName]string{"memory": "1Gi"})),
			want: trace.Job{
				Type: "etl/timed", Start: moment(2), End: moment(30),
				Requests: []trace.Request{{Resource: "cpu", Amount: 0}, {Resource: "memory", Amount: 1 << 30}},
			},
		},
		"with the limits of all its containers, which are requests too where there are none": {
			pod: ran("a", "timed", 0, 2, 30, limited("1500m"), func(pod *corev1.Pod) {
				pod.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
				pod.Spec.InitContainers[0].Resources = *pod.Spec.Containers[0].Resources.DeepCopy()
			}),
			want: trace.Job{
				Type: "etl/timed", Start: moment(2), End: moment(30), Requests: []trace.Request{{Resource: "cpu", Amount: 3}}, CPULimit: 3,
			},
		},
		"without a limit where a container has none": {
			pod: ran("a", "timed", 0, 2, 30, limited("1500m"), func(pod *corev1.Pod) {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other"})
			}),
			want: trace.Job{Type: "etl/timed", Start: moment(2), End: moment(30), Requests: []trace.Request{{Resource: "cpu", Amount: 1.5}}},
		},
		"with a limit that is not below what is set aside for an init container": {
			pod: ran("a", "timed", 0, 2, 30, func(pod *corev1.Pod) {
				pod.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1500m")}}
				pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
				pod.Spec.InitContainers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("4")}
			}),
			want: trace.Job{
				Type: "etl/timed", Start: moment(2), End: moment(30), Requests: []trace.Request{{Resource: "cpu", Amount: 4}}, CPULimit: 4,
			},
		},
		"of another namespace than the profile": {
			pod: ran("a", "timed", 0, 2, 12, func(pod *corev1.Pod) { pod.Namespace = "shop" }),
			want: trace.Job{
				Name: "shop/a", Neutral: 10, Start: moment(2), End: moment(12), Demands: []trace.ServiceDemand{{Resource: "cpu", Seconds: 1, Threads: 1}},
			},
		},
		"that runs, if that is wanted": {
			options: Options{Running: true},
			pod:     ran("a", "timed", 0, 2, 0, stillRuns),
			want:    trace.Job{Type: "etl/timed", Start: moment(2)},
		},
		"from the first start of its containers to the last end": {
			pod: ran("a", "timed", 0, 4, 9, func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{State: terminated(3, 7)})
			}),
			want: trace.Job{Type: "etl/timed", Start: moment(3), End: moment(9)},
		},
		"that began when its node took it, if containers were restarted": {
			pod: ran("a", "timed", 0, 8, 9, func(pod *corev1.Pod) {
				pod.Status.StartTime = new(at(1))
				pod.Status.ContainerStatuses[0].RestartCount = 3
			}),
			want: trace.Job{Type: "etl/timed", Start: moment(1), End: moment(9)},
		},
		"that waited for a restart when it was deleted": {
			pod: Deleted(ran("a", "timed", 0, 2, 7, func(pod *corev1.Pod) {
				status := &pod.Status.ContainerStatuses[0]
				status.LastTerminationState, status.State = status.State, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
				pod.Status.Phase = corev1.PodRunning
			})),
			want: trace.Job{Type: "etl/timed", Neutral: 5, Start: moment(2), End: moment(7)},
		},
		"that was deleted while it ran, and ended then": {
			pod: Deleted(ran("a", "timed", 0, 2, 0, stillRuns, func(pod *corev1.Pod) {
				pod.DeletionTimestamp = new(at(20))
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{State: terminated(3, 7)})
			})),
			want: trace.Job{Type: "etl/timed", Neutral: 18, Start: moment(2), End: moment(20)},
		},
		"that finished before it was deleted": {
			pod:  Deleted(ran("a", "timed", 0, 2, 7, func(pod *corev1.Pod) { pod.DeletionTimestamp = new(at(20)) })),
			want: trace.Job{Type: "etl/timed", Start: moment(2), End: moment(7)},
		},
		"on a node whose clock is slow": {
			pod:  ran("a", "timed", 0, -9, -3),
			want: trace.Job{Type: "etl/timed", Start: moment(0), End: moment(0)},
		},
		"unless it runs": {
			pod: ran("a", "timed", 0, 2, 0, stillRuns), reason: StillRunning,
		},
		"unless it runs and nobody knows how long it takes": {
			options: Options{Running: true}, pod: ran("a", "timeless", 0, 2, 0, stillRuns), reason: NoEnd,
		},
		"unless it has not started": {
			options: Options{Running: true},
			pod: ran("a", "timed", 0, 2, 0, func(pod *corev1.Pod) {
				pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
			}),
			reason: NotStarted,
		},
		"unless it never started, though its node had taken it": {
			pod: ran("a", "timed", 0, 2, 0, failed, func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}
			}),
			reason: NeverStarted,
		},
		"unless it could not be started, which kubelets say happened in 1970": {
			pod: ran("a", "timed", 0, 2, 3, failed, func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses[0].State.Terminated.StartedAt = metav1.Unix(0, 0)
			}),
			reason: NeverStarted,
		},
		"unless it was over within a second": {
			pod: ran("a", "other", 0, 2, 2), reason: TooShort,
		},
		"unless it went while nobody looked": {
			pod: Deleted(ran("a", "other", 0, 2, 0, stillRuns)), reason: NoEnd,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := recordingOf(t, test.options, test.pod)
			if test.reason != "" {
				if len(got.Jobs) != 0 || got.LeftOut[test.reason] != 1 {
					t.Errorf("%d jobs, left out %v, want 1 that %q", len(got.Jobs), got.LeftOut, test.reason)
				}
				return
			}
			if test.want.Name == "" {
				test.want.Name = "etl/a"
			}
			if test.want.Requests == nil { // said of each pod, or a replay takes it to request what it keeps busy
				test.want.Requests = []trace.Request{{Resource: "cpu", Amount: 0}}
			}
			test.want.Node = "worker-1"
			if diff := cmp.Diff([]trace.Job{test.want}, got.Jobs); diff != "" {
				t.Errorf("the jobs (-want +got):\n%s", diff)
			}
		})
	}
}

// What is kept for later is enough: the same jobs come of it.
func TestASlimPodBecomesTheSameJob(t *testing.T) {
	t.Parallel()
	pods := []*corev1.Pod{
		ran("a", "timed", 0, 2, 30), ran("b", "other", 1, 3, 9, requesting(map[corev1.ResourceName]string{"cpu": "2", "memory": "1Gi"})),
		ran("d", "timed", 2, 4, 8, limited("2")),
		ran("e", "timed", 2, 4, 8, limited("2"), func(pod *corev1.Pod) { // whose resize waits
			pod.Status.ContainerStatuses[0].Resources = pod.Spec.Containers[0].Resources.DeepCopy()
			pod.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("3")
		}),
		ran("c", "timeless", 2, 4, 8, failed, func(pod *corev1.Pod) {
			pod.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("250m")}
			pod.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("4")}}
			pod.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
			pod.Status.ContainerStatuses[0].RestartCount = 1
			pod.Annotations = map[string]string{"large": "text"}
		}),
	}
	var slim []*corev1.Pod
	for _, pod := range pods {
		slim = append(slim, Slim(pod))
		if pod.Annotations != nil && slim[len(slim)-1].Annotations != nil {
			t.Errorf("%s: annotations are kept, which nobody reads", pod.Name)
		}
	}
	if diff := cmp.Diff(recordingOf(t, Options{}, pods...), recordingOf(t, Options{}, slim...)); diff != "" {
		t.Errorf("of slim pods comes (-full +slim):\n%s", diff)
	}
}

func TestARecordingIsInTheOrderOfArrivalAndCountsEachPodOnce(t *testing.T) {
	t.Parallel()
	got := recordingOf(t, Options{}, ran("c", "timed", 7, 8, 9), ran("b", "timed", 5, 20, 30), ran("a", "other", 5, 6, 40), ran("c", "timed", 7, 8, 9))
	if len(got.Jobs) != 3 || got.Jobs[0].Name != "etl/a" || got.Jobs[1].Name != "etl/b" || got.Jobs[2].Name != "etl/c" {
		t.Errorf("the jobs are %v, want a, b and c", got.Jobs)
	}
	if got.Jobs[0].Arrival != 0 || got.Jobs[2].Arrival != 2 || !got.Start.Equal(at(5).Time) {
		t.Errorf("the trace starts at %v, with arrivals at %v and %v; want second 0 to be the first arrival", got.Start, got.Jobs[0].Arrival, got.Jobs[2].Arrival)
	}
}

func TestARecordingStartsWhenItIsAskedTo(t *testing.T) {
	t.Parallel()
	got := recordingOf(t, Options{Since: at(5).Time}, ran("a", "timed", 4, 8, 9), ran("b", "timed", 7, 20, 30))
	if len(got.Jobs) != 1 || got.Jobs[0].Arrival != 2 || got.Jobs[0].End != moment(25) {
		t.Errorf("the jobs are %v, want b alone, at 2 s", got.Jobs)
	}
}

func TestARecordingSaysWhatItIsBasedOn(t *testing.T) {
	t.Parallel()
	invalid := v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "invalid"}}
	got := recordingOf(t, Options{Profiles: append(profiles[:2:2], invalid)},
		ran("a", "timed", 0, 2, 30), ran("b", "timeless", 0, 2, 30), ran("c", "other", 0, 2, 30),
		ran("d", "timed", 0, 2, 30, failed), ran("e", "timed", 0, 1, 0, stillRuns), ran("f", "timeless", 0, 2, 2))
	if got.Measured != 3 || got.Derived != 1 || len(got.Profiles) != 2 || !got.Timeless["etl/timeless"] || len(got.Timeless) != 1 || got.InvalidProfiles != 1 {
		t.Errorf("measured %d, derived %d, profiles %v, without a time %v, invalid %d", got.Measured, got.Derived, got.Profiles, got.Timeless, got.InvalidProfiles)
	}
	if diff := cmp.Diff(map[Reason]int{StillRunning: 1, TooShort: 1}, got.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestRequestsHaveNamesThatATraceMayHave(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		resources []corev1.ResourceName
		want      map[corev1.ResourceName]string
	}{
		"what every cluster has": {
			[]corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi"},
			map[corev1.ResourceName]string{"cpu": "cpu", "memory": "memory", "ephemeral-storage": "ephemeral-storage", "hugepages-2Mi": "hugepages-2mi"},
		},
		"without the domain": {
			[]corev1.ResourceName{"nvidia.com/gpu", "nvidia.com/mig-1g.5gb"},
			map[corev1.ResourceName]string{"nvidia.com/gpu": "gpu", "nvidia.com/mig-1g.5gb": "mig-1g-5gb"},
		},
		"with the domain where two would be called alike": {
			[]corev1.ResourceName{"amd.com/gpu", "nvidia.com/gpu"},
			map[corev1.ResourceName]string{"amd.com/gpu": "amd-com-gpu", "nvidia.com/gpu": "nvidia-com-gpu"},
		},
		"never that of a resource that every cluster has": {
			[]corev1.ResourceName{"cpu", "example.com/cpu"},
			map[corev1.ResourceName]string{"cpu": "cpu", "example.com/cpu": "example-com-cpu"},
		},
		"with the domain where they would start with a digit": {
			[]corev1.ResourceName{"example.com/4k"}, map[corev1.ResourceName]string{"example.com/4k": "example-com-4k"},
		},
		"none where there is no such name": {
			[]corev1.ResourceName{"4.com/4", "a.b/c", "a.b/c.", "x.y/c"}, map[corev1.ResourceName]string{"a.b/c": "a-b-c", "x.y/c": "x-y-c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, columns(test.resources)); diff != "" {
				t.Errorf("the columns (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	t.Parallel()
	recording := recordingOf(t, Options{},
		ran("a", "timed", 0, 2, 30), ran("b", "other", 1, 2, 3, requesting(map[corev1.ResourceName]string{"nvidia.com/gpu": "2", "cpu": "1", "4.com/4": "3"})),
		ran("c", "timeless", 1, 2, 7, requesting(map[corev1.ResourceName]string{"memory": "1Gi"})),
		ran("d", "timed", 2, 3, 7, limited("250m")))
	if len(recording.Columnless) != 1 || recording.Columnless[0] != "4.com/4" {
		t.Errorf("without a column are %v, want 4.com/4", recording.Columnless)
	}
	var file bytes.Buffer
	if err := recording.Write(&file); err != nil {
		t.Fatal(err)
	}
	var got []trace.Job
	for job, err := range trace.Jobs("recorded.csv", &file, trace.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		job.Line = 0
		got = append(got, job)
	}
	if diff := cmp.Diff(recording.Jobs, got); diff != "" {
		t.Errorf("the jobs (-written +read):\n%s", diff)
	}
}
