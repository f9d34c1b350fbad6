package tracereplay

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
)

var noon = metav1.NewTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))

// compare is a replay of two policies with two seeds; round-robin ignores that one node is larger.
// Runs 0 and 1 are of round-robin, 2 and 3 of least-dilation. A Job of all takes them in the order
// 0, 2, 1, 3.
func compare() *v1alpha1.TraceReplay {
	return &v1alpha1.TraceReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "compare", UID: "1234", Generation: 1},
		Spec: v1alpha1.TraceReplaySpec{
			Arrivals: &v1alpha1.ReplayArrivals{
				Jobs:         new(int64(50)),
				Interarrival: v1alpha1.Interarrival{MeanMillis: new(int64(500))},
				Types:        []v1alpha1.ReplayJobType{{Profile: "job"}},
			},
			Nodes: []v1alpha1.ReplayNodes{
				{Name: "small"}, {Name: "large", Resources: []v1alpha1.ReplayResource{{Name: "cpu", Servers: new(int32(4))}}},
			},
			Policies: []v1alpha1.ReplayPolicy{{Name: "round-robin"}, {Name: "least-dilation"}},
			Seeds:    new(int32(2)),
		},
	}
}

// profiled is the profile of the jobs of compare.
func profiled() v1alpha1.WorkloadProfile {
	return v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "job"},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:      &metav1.LabelSelector{},
			Resources:     []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.8"))}},
			NeutralMillis: new(int64(1000)),
		},
	}
}

// asked is the input for compare before anything was made.
func asked() *input {
	return &input{
		replay: compare(), workloads: []v1alpha1.WorkloadProfile{profiled()}, now: noon,
		worker: &Worker{
			Image: "example.test/loadline", CPU: resource.MustParse("1"), Memory: resource.MustParse("512Mi"), MaxParallelism: 1000, Timeout: 24 * time.Hour,
		},
	}
}

// begin applies a plan's changes to the ConfigMaps and Jobs of in.
func (in *input) begin(t *testing.T) {
	t.Helper()
	p := mustDecide(t, in)
	in.replay.Status = p.status
	for _, w := range p.writes {
		in.keep(w.after)
	}
	if p.start != nil {
		job := *p.start
		job.UID = types.UID(job.Name)
		in.jobs = append(in.jobs, job)
	}
}

// keep stores a ConfigMap.
func (in *input) keep(c *corev1.ConfigMap) {
	switch c.Name {
	case questionName(in.replay.Name):
		in.question = c
	case reportName(in.replay.Name):
		in.report = c
	default:
		for i := range in.results {
			if in.results[i].Name == c.Name {
				in.results[i] = c
				return
			}
		}
		in.results = append(in.results, c)
	}
}

// begun is asked with the first round under way.
func begun(t *testing.T) *input {
	t.Helper()
	in := asked()
	in.begin(t)
	return in
}

func mustDecide(t *testing.T, in *input) *plan {
	t.Helper()
	p, err := decide(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pod adds a pod for an index of the latest Job.
func (in *input) pod(index int, status corev1.PodStatus) *input {
	job := &in.jobs[len(in.jobs)-1]
	in.pods = append(in.pods, *podOf(job, index, status))
	return in
}

func podOf(job *batchv1.Job, index int, status corev1.PodStatus) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: fmt.Sprintf("%s-%d", job.Name, index), Labels: job.Spec.Template.Labels,
			Annotations:     map[string]string{replayKey: job.Spec.Template.Annotations[replayKey], batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}},
		},
		Spec:   job.Spec.Template.Spec,
		Status: status,
	}
	return pod
}

// succeeded is the status of a pod that left a result after 3 s.
func succeeded(result string) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: containerEnded(0, "Completed", result)}
}

// failedWith is the status of a pod whose container ended with an exit code.
func failedWith(code int32, reason, message string) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: containerEnded(code, reason, message)}
}

func containerEnded(code int32, reason, message string) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: containerName, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: noon, FinishedAt: metav1.NewTime(noon.Add(3 * time.Second)),
	}}}}
}

// finish ends the latest Job, with the indexes that failed.
func (in *input) finish(failed string) *input {
	job := &in.jobs[len(in.jobs)-1]
	kind := batchv1.JobComplete
	if failed != "" {
		kind = batchv1.JobFailed
		job.Status.FailedIndexes = new(failed)
	}
	job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue}}
	return in
}

// result is the result of a run of compare.
func result(t *testing.T, run int) string {
	t.Helper()
	return resultOf(t, run, profiled())
}

// resultOf is the result of a run of compare with another profile of its jobs.
func resultOf(t *testing.T, run int, job v1alpha1.WorkloadProfile) string {
	t.Helper()
	replayer, err := ask(compare(), []v1alpha1.WorkloadProfile{job}, nil).replayer()
	if err != nil {
		t.Fatal(err)
	}
	r, err := replayer.Run(t.Context(), run, replays.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
