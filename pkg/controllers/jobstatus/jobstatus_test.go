package jobstatus_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/controllers/jobstatus"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// pod returns a pod of one container, main.
func pod(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "app:1"}}},
	}
	change(p)
	return p
}

func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	}
}

func ended(code int32, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}}}
	}
}

func TestWhatKeepsAPodFromBeginningIsNamed(t *testing.T) {
	t.Parallel()
	mounts := []corev1.Event{
		{Reason: "FailedMount", Message: "late", Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(noon.Add(time.Minute))}},
		{Reason: "FailedMount", Message: "early", LastTimestamp: metav1.NewTime(noon)},
		{Reason: "Pulled", Message: "no matter", EventTime: metav1.NewMicroTime(noon.Add(time.Hour))},
	}
	for name, test := range map[string]struct {
		pod           *corev1.Pod
		events        []corev1.Event
		reason, words string
	}{
		"nothing known": {pod(func(*corev1.Pod) {}), nil, "", ""},
		"no node": {pod(func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes"}}
		}), mounts, jobstatus.ReasonUnschedulable, "cannot be scheduled: 0/3 nodes"},
		"an image":               {pod(waiting("ErrImagePull", "denied")), nil, jobstatus.ReasonImage, `the image "app:1" of container main cannot be pulled: denied`},
		"a secret":               {pod(waiting("CreateContainerConfigError", "no secret")), nil, jobstatus.ReasonContainer, "needs what is not there: no secret"},
		"no message":             {pod(waiting("RunContainerError", "")), nil, jobstatus.ReasonContainer, "cannot be started: RunContainerError"},
		"a wait as any":          {pod(waiting("ContainerCreating", "")), nil, "", ""},
		"a volume, at last":      {pod(waiting("ContainerCreating", "")), mounts, jobstatus.ReasonVolume, "cannot be mounted: late"},
		"a sandbox":              {pod(func(*corev1.Pod) {}), []corev1.Event{{Reason: "FailedCreatePodSandBox", Message: "no network"}}, jobstatus.ReasonContainer, "cannot be started: no network"},
		"a volume that came":     {pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }), mounts, "", ""},
		"a sidecar that crashes": {pod(func(p *corev1.Pod) { waiting("CrashLoopBackOff", "")(p); p.Status.Phase = corev1.PodRunning }), nil, "", ""},
	} {
		reason, words := jobstatus.Blocked(test.pod, test.events)
		if reason != test.reason || !strings.Contains(words, test.words) || (words == "") != (test.words == "") {
			t.Errorf("%s: %s: %q, want %s: %q", name, reason, words, test.reason, test.words)
		}
	}
}

func TestWhyAPodHasFailedIsNamed(t *testing.T) {
	t.Parallel()
	limited := func(p *corev1.Pod) {
		ended(137, "OOMKilled", "")(p)
		p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
	}
	evicted := func(p *corev1.Pod) { p.Status.Reason, p.Status.Message = "Evicted", "disk" }
	deleted := func(p *corev1.Pod) {
		ended(137, "Error", "")(p)
		p.DeletionTimestamp = &metav1.Time{Time: noon}
	}
	long := strings.Repeat("ü", 300) + "end"
	for name, test := range map[string]struct {
		pod      *corev1.Pod
		remedies map[string]string
		want     jobstatus.Failure // the words are part of the message
	}{
		"an error of its own": {pod(ended(2, "Error", "no such file")), nil, jobstatus.Failure{Reason: jobstatus.ReasonExitCode, Message: "ended with exit code 2: no such file"}},
		"a signal":            {pod(ended(143, "Error", "")), nil, jobstatus.Failure{Lost: true, Reason: jobstatus.ReasonKilled, Message: "killed by SIGTERM (exit code 143)"}},
		"a fault":             {pod(ended(139, "Error", "")), nil, jobstatus.Failure{Reason: jobstatus.ReasonExitCode, Message: "exit code 139"}},
		"its limit":           {pod(limited), nil, jobstatus.Failure{Lost: true, Reason: jobstatus.ReasonOutOfMemory, Message: "limit of 64Mi (OOMKilled); raise resources.limits.memory"}},
		"its limit, told how": {pod(limited), map[string]string{"main": "raise --memory"}, jobstatus.Failure{Lost: true, Reason: jobstatus.ReasonOutOfMemory, Message: "(OOMKilled); raise --memory"}},
		"its node's memory":   {pod(ended(137, "OOMKilled", "")), nil, jobstatus.Failure{Lost: true, Reason: jobstatus.ReasonDisrupted, Message: "its node ran out of memory"}},
		"eviction":            {pod(evicted), nil, jobstatus.Failure{Reason: jobstatus.ReasonEvicted, Message: "evicted: disk"}},
		"a node that shut down": {
			pod(func(p *corev1.Pod) { p.Status.Reason = "NodeShutdown" }), nil,
			jobstatus.Failure{Lost: true, Reason: jobstatus.ReasonDisrupted, Message: "ended by its node: NodeShutdown"},
		},
		"deletion":     {pod(deleted), nil, jobstatus.Failure{Lost: true, Reason: jobstatus.ReasonDisrupted, Message: "pod p was deleted"}},
		"nothing said": {pod(func(*corev1.Pod) {}), nil, jobstatus.Failure{Reason: jobstatus.ReasonExitCode, Message: "it does not say why"}},
		"much said":    {pod(ended(1, "Error", long)), nil, jobstatus.Failure{Reason: jobstatus.ReasonExitCode, Message: "üend"}},
	} {
		got := jobstatus.WhyFailed(test.pod, test.remedies)
		if got.Lost != test.want.Lost || got.Reason != test.want.Reason || !strings.Contains(got.Message, test.want.Message) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
		if len(got.Message) > 500 || !utf8.ValidString(got.Message) {
			t.Errorf("%s: %d bytes: %q", name, len(got.Message), got.Message)
		}
	}
}

func TestAJobHasFinishedWhenItsPodsHave(t *testing.T) {
	t.Parallel()
	job := func(conditions ...batchv1.JobCondition) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: conditions}}
	}
	for _, test := range []struct {
		job  *batchv1.Job
		want bool
	}{
		{job(), false},
		{job(batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}), false},
		{job(batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionFalse}), false},
		{job(batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}), true},
		{job(batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}), true},
	} {
		if got := jobstatus.Finished(test.job); got != test.want {
			t.Errorf("%v: %v", test.job.Status.Conditions, got)
		}
	}
}
