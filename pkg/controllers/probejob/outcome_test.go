package probejob_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

func TestAJobIsDescribedInWordsForUsers(t *testing.T) {
	t.Parallel()
	disruption := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager", Message: "Taint manager: deleting due to NoExecute taint",
		}}
	}
	nowhere := corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes are available: 1 Insufficient cpu.",
	}}}
	starting := waiting("ContainerCreating", "")
	type answer struct {
		State           probejob.State
		Reason, Message string
	}
	tests := map[string]struct {
		job    *batchv1.Job
		pods   []corev1.Pod
		events []corev1.Event
		after  time.Duration
		want   answer
	}{
		"a Job without a pod yet is pending": {job: job(), want: answer{}},
		"a Job that may create no pod is pending at first": {
			job: job(), events: []corev1.Event{event("FailedCreate", "exceeded quota: pods")},
			want: answer{probejob.Pending, probejob.ReasonPodRefused, "the pod cannot be created: exceeded quota: pods"},
		},
		"a Job that may create no pod for a minute has failed": {
			job: job(), events: []corev1.Event{event("FailedCreate", "exceeded quota: pods")}, after: probejob.Grace,
			want: answer{probejob.Failed, probejob.ReasonPodRefused, "the pod cannot be created: exceeded quota: pods"},
		},
		"of several refusals the last counts": {
			job: job(), after: time.Second, want: answer{probejob.Pending, probejob.ReasonPodRefused, "the pod cannot be created: later"},
			events: []corev1.Event{
				event("FailedCreate", "first"),
				{Reason: "FailedCreate", Message: "later", Series: &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(noon.Add(time.Second))}},
				{Reason: "FailedCreate", Message: "earlier", EventTime: metav1.NewMicroTime(noon.Add(-time.Second))},
				{Reason: "FailedCreate", Message: "made earlier", ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-time.Second))}},
			},
		},
		"a pod that fits nowhere is unschedulable": {
			job: job(), pods: []corev1.Pod{pod(nowhere)}, after: 2 * time.Minute,
			want: answer{probejob.Failed, jobstatus.ReasonUnschedulable, "the pod cannot be scheduled: 0/2 nodes are available: 1 Insufficient cpu."},
		},
		"an image being pulled for minutes is nothing bad": {job: job(), pods: []corev1.Pod{pod(starting)}, after: probejob.BeginWithin - time.Second, want: answer{}},
		"a pod that does not begin has failed": {
			job: job(), pods: []corev1.Pod{pod(starting)}, after: probejob.BeginWithin,
			want: answer{probejob.Failed, jobstatus.ReasonNotBegun, "it did not begin within 600 s"},
		},
		"an image that is being pulled for too long is named": {
			job: job(), pods: []corev1.Pod{pod(starting)}, events: []corev1.Event{event("Pulling", `Pulling image "big:v1"`)}, after: probejob.BeginWithin,
			want: answer{probejob.Failed, jobstatus.ReasonNotBegun, `it did not begin within 600 s: Pulling image "big:v1"`},
		},
		"an image that is there is not what keeps a pod from beginning": {
			job: job(), pods: []corev1.Pod{pod(starting)}, events: []corev1.Event{event("Pulled", "in 2 s")}, after: probejob.BeginWithin,
			want: answer{probejob.Failed, jobstatus.ReasonNotBegun, "it did not begin within 600 s"},
		},
		"an image that could not be pulled is known by the event while it is tried again": {
			job: job(), pods: []corev1.Pod{pod(starting)}, events: []corev1.Event{event("Failed", `Failed to pull image "gone:v1": no such host`)}, after: probejob.Grace,
			want: answer{probejob.Failed, jobstatus.ReasonImage, `an image cannot be pulled: Failed to pull image "gone:v1": no such host`},
		},
		"an image that cannot be pulled may yet be": {
			job: job(), pods: []corev1.Pod{pod(waiting("ErrImagePull", "not found"))}, after: time.Second,
			want: answer{probejob.Pending, jobstatus.ReasonImage, `the image "example.test/probe:v1" of container loadline-probe cannot be pulled: not found`},
		},
		"an image that cannot be pulled for a minute has failed": {
			job: job(), pods: []corev1.Pod{pod(waiting("ImagePullBackOff", "Back-off: not found"))}, after: probejob.Grace,
			want: answer{probejob.Failed, jobstatus.ReasonImage, `the image "example.test/probe:v1" of container loadline-probe cannot be pulled: Back-off: not found`},
		},
		"an image with an impossible name has failed": {
			job: job(), pods: []corev1.Pod{pod(waiting("InvalidImageName", ""))}, after: probejob.Grace,
			want: answer{probejob.Failed, jobstatus.ReasonImage, `the image "example.test/probe:v1" of container loadline-probe cannot be pulled: InvalidImageName`},
		},
		"a ConfigMap that is missing is named": {
			job: job(), pods: []corev1.Pod{pod(waiting("CreateContainerConfigError", `configmap "settings" not found`))}, after: probejob.Grace,
			want: answer{probejob.Failed, jobstatus.ReasonContainer, `container loadline-probe needs what is not there: configmap "settings" not found`},
		},
		"a container that cannot be made has failed": {
			job: job(), pods: []corev1.Pod{pod(waiting("CreateContainerError", "no space left"))}, after: probejob.Grace,
			want: answer{probejob.Failed, jobstatus.ReasonContainer, "container loadline-probe cannot be started: no space left"},
		},
		"a sidecar that crashes before the rest begins is told of": {
			job: job(), pods: []corev1.Pod{pod(waiting("CrashLoopBackOff", "back-off 10s"))}, after: time.Second,
			want: answer{probejob.Pending, jobstatus.ReasonContainer, "container loadline-probe ends again and again: back-off 10s"},
		},
		"a volume that cannot be mounted is told of": {
			job: job(), pods: []corev1.Pod{pod(starting)}, events: []corev1.Event{event("FailedMount", `secret "key" not found`)}, after: probejob.Grace,
			want: answer{probejob.Failed, jobstatus.ReasonVolume, `a volume cannot be mounted: secret "key" not found`},
		},
		"a sandbox that cannot be made is told of": {
			job: job(), pods: []corev1.Pod{pod(starting)}, events: []corev1.Event{event("FailedCreatePodSandBox", "no addresses left")}, after: time.Second,
			want: answer{probejob.Pending, jobstatus.ReasonContainer, "the pod cannot be started: no addresses left"},
		},
		"a pod that runs is running": {job: job(), pods: []corev1.Pod{pod(running())}, want: answer{State: probejob.Running}},
		"a mount that failed at first does not matter once the pod runs": {
			job: job(), pods: []corev1.Pod{pod(running())}, events: []corev1.Event{event("FailedMount", "slow")}, after: time.Hour, want: answer{State: probejob.Running},
		},
		"a pod that ended well has succeeded": {job: job(), pods: []corev1.Pod{pod(ended(corev1.PodSucceeded, 0, "Completed", "{}"))}, want: answer{State: probejob.Succeeded}},
		"a pod of another Job is passed over": {
			job: job(), pods: []corev1.Pod{pod(running(), func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" })}, want: answer{},
		},
		"the latest of two pods counts": {
			job:  job(),
			pods: []corev1.Pod{pod(running(), func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(noon.Add(time.Second)) }), pod(starting)},
			want: answer{State: probejob.Running},
		},
		"a Job that took too long says how long it may take": {
			job: job(failed("DeadlineExceeded")), pods: []corev1.Pod{pod(running(), deleted)},
			want: answer{probejob.Failed, jobstatus.ReasonDeadline, "it did not end within 600 s"},
		},
		"a Job whose pod did not begin in time says so": {
			job: job(failed("DeadlineExceeded")), want: answer{probejob.Failed, jobstatus.ReasonNotBegun, "it did not begin within 600 s"},
		},
		"a pod that was deleted while its image was tried again names the image": {
			job: job(failed("DeadlineExceeded")), pods: []corev1.Pod{pod(starting, deleted)},
			events: []corev1.Event{event("Failed", `Failed to pull image "gone:v1": no such host`)},
			want:   answer{probejob.Failed, jobstatus.ReasonImage, `it did not begin within 600 s: an image cannot be pulled: Failed to pull image "gone:v1": no such host`},
		},
		"a Job that took too long because its pod was stuck says so": {
			job: job(failed("DeadlineExceeded")), pods: []corev1.Pod{pod(waiting("ErrImagePull", "not found"), deleted)},
			want: answer{
				probejob.Failed, jobstatus.ReasonImage,
				`it did not begin within 600 s: the image "example.test/probe:v1" of container loadline-probe cannot be pulled: not found`,
			},
		},
		"a Job that took too long because it may create no pod says so": {
			job: job(failed("DeadlineExceeded")), events: []corev1.Event{event("FailedCreate", "exceeded quota: pods")},
			want: answer{probejob.Failed, probejob.ReasonPodRefused, "it did not begin within 600 s: the pod cannot be created: exceeded quota: pods"},
		},
		"a Job that takes too long has failed before its pod has ended": {
			job:  job(batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded"}),
			pods: []corev1.Pod{pod(running(), deleted)},
			want: answer{probejob.Failed, jobstatus.ReasonDeadline, "it did not end within 600 s"},
		},
		"a pod that is deleted when its Job is overdue was so for that": {
			job: begun(), pods: []corev1.Pod{pod(running(), deletedAfter(600*time.Second))},
			want: answer{probejob.Failed, jobstatus.ReasonDeadline, "it did not end within 600 s"},
		},
		"a pod that ends well when told to has not if its Job is overdue": {
			job: begun(), pods: []corev1.Pod{pod(endedAfter(601*time.Second), deletedAfter(600*time.Second))},
			want: answer{probejob.Failed, jobstatus.ReasonDeadline, "it did not end within 600 s"},
		},
		"a pod that is deleted before its Job is overdue is lost": {
			job: begun(), pods: []corev1.Pod{pod(running(), deletedAfter(598*time.Second))},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "pod fast-cpu-x was deleted"},
		},
		"a pod that ends well when told to is lost": {
			job: begun(), pods: []corev1.Pod{pod(endedAfter(30*time.Second), deletedAfter(30*time.Second))},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "pod fast-cpu-x was deleted"},
		},
		"a pod that is deleted once it has ended well has succeeded": {
			job: begun(), pods: []corev1.Pod{pod(endedAfter(29*time.Second), deletedAfter(30*time.Second))}, want: answer{State: probejob.Succeeded},
		},
		"a container that ends badly is quoted": {
			job: job(), pods: []corev1.Pod{pod(ended(corev1.PodFailed, 3, "Error", "Error: no such device\n"))},
			want: answer{probejob.Failed, jobstatus.ReasonExitCode, "container loadline-probe ended with exit code 3: Error: no such device"},
		},
		"a long output is quoted from its end": {
			job: job(), pods: []corev1.Pod{pod(ended(corev1.PodFailed, 3, "Error", strings.Repeat("ä", 300)+"!"))},
			want: answer{probejob.Failed, jobstatus.ReasonExitCode, "container loadline-probe ended with exit code 3: …" + strings.Repeat("ä", 199) + "!"},
		},
		"a command that does not exist cannot be started": {
			job: job(), pods: []corev1.Pod{pod(ended(corev1.PodFailed, 128, "StartError", `exec: "work": not found`))},
			want: answer{probejob.Failed, jobstatus.ReasonContainer, `container loadline-probe cannot be started: exec: "work": not found`},
		},
		"a pod that outgrew its disk was evicted through its own fault": {
			job: job(), pods: []corev1.Pod{pod(corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: `Usage of EmptyDir volume "data" exceeds the limit "1Gi".`})},
			want: answer{probejob.Failed, jobstatus.ReasonEvicted, `the pod was evicted: Usage of EmptyDir volume "data" exceeds the limit "1Gi".`},
		},
		"a pod that was evicted for the node's sake is lost": {
			job: job(), pods: []corev1.Pod{pod(corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, disruption)},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "pod fast-cpu-x was ended: Taint manager: deleting due to NoExecute taint"},
		},
		"a pod with a deadline of its own has failed": {
			job: job(), pods: []corev1.Pod{pod(corev1.PodStatus{Phase: corev1.PodFailed, Reason: "DeadlineExceeded", Message: "Pod was active too long"})},
			want: answer{probejob.Failed, jobstatus.ReasonDeadline, "it did not end within the pod's activeDeadlineSeconds: Pod was active too long"},
		},
		"a pod that its node cannot have is lost": {
			job: job(), pods: []corev1.Pod{pod(corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu", Message: "Node didn't have enough resource: cpu"})},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "pod fast-cpu-x was ended by its node: Node didn't have enough resource: cpu"},
		},
		"a pod that somebody deletes is lost": {
			job: job(), pods: []corev1.Pod{pod(running(), deleted)},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "pod fast-cpu-x was deleted"},
		},
		"a pod that was killed as somebody deleted it is lost": {
			job: job(), pods: []corev1.Pod{pod(ended(corev1.PodFailed, 137, "Error", ""), deleted)},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "pod fast-cpu-x was deleted"},
		},
		"a pod of which nothing is known is lost": {
			job: job(), pods: []corev1.Pod{pod(corev1.PodStatus{Phase: corev1.PodUnknown})},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "nothing is known of pod fast-cpu-x any more"},
		},
		"a container of which nothing is known is lost": {
			job: job(), pods: []corev1.Pod{pod(ended(corev1.PodFailed, 137, "ContainerStatusUnknown", ""))},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "nothing is known of container loadline-probe any more: its node or container runtime was restarted"},
		},
		"a container that containerd lost when its node was restarted is lost": {
			job: job(), pods: []corev1.Pod{pod(ended(corev1.PodFailed, 255, "Unknown", ""))},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "nothing is known of container loadline-probe any more: its node or container runtime was restarted"},
		},
		"a pod that the kubelet refuses as it starts is lost": {
			job: job(), pods: []corev1.Pod{pod(corev1.PodStatus{Phase: corev1.PodFailed, Reason: "UnexpectedAdmissionError", Message: "Allocate failed"})},
			want: answer{probejob.Lost, jobstatus.ReasonDisrupted, "pod fast-cpu-x was ended by its node: Allocate failed"},
		},
		"a pod that its node will never admit has failed": {
			job: job(), pods: []corev1.Pod{pod(corev1.PodStatus{Phase: corev1.PodFailed, Reason: "SysctlForbidden", Message: "forbidden sysctl"})},
			want: answer{probejob.Failed, jobstatus.ReasonExitCode, "the pod failed: forbidden sysctl"},
		},
		"a Job that no manager attends to is lost": {
			job: unattended(failed("DeadlineExceeded")), pods: []corev1.Pod{pod(running(), deleted)},
			want: answer{probejob.Lost, probejob.ReasonUnattended, "Job fast-cpu was ended because no manager attended to it for 120 s"},
		},
		"a Job that no manager attends to is lost whatever keeps its pod from beginning": {
			job: unattended(failed("DeadlineExceeded")), pods: []corev1.Pod{pod(waiting("ErrImagePull", "not found"), deleted)},
			want: answer{probejob.Lost, probejob.ReasonUnattended, "Job fast-cpu was ended because no manager attended to it for 120 s"},
		},
		"a Job whose pod is gone is lost, however it ended": {
			job: job(complete()), want: answer{probejob.Lost, probejob.ReasonGone, "the pod of Job fast-cpu is gone with its result"},
		},
		"a pod that failed without a reason has failed": {
			job: job(), pods: []corev1.Pod{pod(corev1.PodStatus{Phase: corev1.PodFailed})},
			want: answer{probejob.Failed, jobstatus.ReasonExitCode, "the pod failed: it does not say why"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := probejob.Inspect(test.job, test.pods, test.events, noon.Add(test.after))
			if diff := cmp.Diff(test.want, answer{o.State, o.Reason, o.Message}); diff != "" {
				t.Errorf("unexpected outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnOutcomeSaysWhenThePodStartedAndWhatEachContainerLeft(t *testing.T) {
	t.Parallel()
	status := ended(corev1.PodSucceeded, 0, "Completed", "the report")
	status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: probejob.WatchContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "the watch"}},
	}}
	want := probejob.Outcome{
		State: probejob.Succeeded, Started: noon.Time,
		Messages: map[string]string{probejob.ProbeContainer: "the report", probejob.WatchContainer: "the watch"},
	}
	if diff := cmp.Diff(want, probejob.Inspect(job(complete()), []corev1.Pod{pod(status)}, nil, noon.Time)); diff != "" {
		t.Errorf("unexpected outcome (-want +got):\n%s", diff)
	}
}

func TestTheExitCodeOfASidecarDoesNotMatter(t *testing.T) {
	t.Parallel()
	status := ended(corev1.PodFailed, 1, "Error", "the target's words")
	status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: probejob.WatchContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 143}},
	}}
	observed := pod(status, func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: probejob.WatchContainer, RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
	})
	o := probejob.Inspect(job(), []corev1.Pod{observed}, nil, noon.Time)
	if want := "container loadline-probe ended with exit code 1: the target's words"; o.Message != want {
		t.Errorf("the message is %q, want %q", o.Message, want)
	}
}

func TestASidecarThatCrashesDoesNotStopWhatRuns(t *testing.T) {
	t.Parallel()
	status := running()
	status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: "proxy", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
	}}
	if o := probejob.Inspect(job(), []corev1.Pod{pod(status)}, nil, noon.Add(time.Hour)); o.State != probejob.Running {
		t.Errorf("the state is %v, want Running", o.State)
	}
}

func TestStatesHaveNames(t *testing.T) {
	t.Parallel()
	if got := probejob.Pending.String() + " " + probejob.Lost.String(); got != "Pending Lost" {
		t.Errorf("the states are called %s", got)
	}
}
