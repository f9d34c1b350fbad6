package probejob

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/controllers/jobstatus"
)

// State is where a Job stands.
type State int

// The states of a Job.
const (
	// Pending is a Job whose pod has not begun.
	Pending State = iota
	// Running is a Job whose pod does its work.
	Running
	// Succeeded is a Job whose pod ended well.
	Succeeded
	// Failed is a Job that did not end well, and would not the next time.
	Failed
	// Lost is a Job that ended, or was ended, through no fault of its own: done
	// again, it may end well.
	Lost
)

// String returns the state's name.
func (s State) String() string {
	return [...]string{"Pending", "Running", "Succeeded", "Failed", "Lost"}[s]
}

// Reasons for which a Job is pending, has failed, or was lost, besides those of its pod.
const (
	ReasonPodRefused = "PodRefused" // the API server takes no such pod
	ReasonUnattended = "Unattended" // no manager looked after the Job
	ReasonGone       = "Gone"       // the pod is gone, with its message
)

// Grace is for how long something that keeps a pod from beginning may last, since
// the Job or the pod was made, before the Job counts as failed.
const Grace = time.Minute

// BeginWithin is how long a pod may take to begin where nothing is known to keep it from that: an
// image may be large. It is as long as a Deployment may stand still by default.
const BeginWithin = 10 * time.Minute

// Outcome is the state of a Job, and the output of its pod.
type Outcome struct {
	State State
	// Reason is one of the constants here or in jobstatus, and Message describes the fault, for
	// users. Both are "" without a fault.
	Reason, Message string
	// Started is when the first of the containers began, but for init containers.
	// It is zero before that.
	Started time.Time
	// Messages are the termination messages of the containers that have ended, by
	// name, with those of init containers.
	Messages map[string]string
}

// Retry reports whether a Job that was lost is worth another attempt, after the given
// number of attempts that were lost before. The kernel may have killed a container
// because its node ran out of memory; one that it kills twice needs more than its limit.
func (o *Outcome) Retry(before int32) bool {
	return o.State == Lost && (o.Reason != jobstatus.ReasonOutOfMemory || before == 0)
}

// Bad reports whether a Job has come to its end otherwise than well.
func (o *Outcome) Bad() bool { return o.State == Failed || o.State == Lost }

// Inspect returns the outcome of a Job from the Job, its pods and the events about these.
// Pods of other Jobs are passed over. Events matter only as long as its pod has not begun.
func Inspect(job *batchv1.Job, pods []corev1.Pod, events []corev1.Event, now time.Time) Outcome {
	pod := podOf(job, pods)
	if pod == nil {
		return withoutPod(job, events, now)
	}
	o := Outcome{Started: started(pod), Messages: messages(pod)}
	early := cutShort(pod)
	switch {
	case pod.Status.Phase == corev1.PodSucceeded && !early:
		o.State = Succeeded
	case hasFailed(job) == batchv1.JobReasonDeadlineExceeded, early && afterDeadline(job, pod):
		reason, why := jobstatus.Blocked(pod, events)
		o.State, o.Reason, o.Message = whyLate(job, o.Started, reason, cmp.Or(why, jobstatus.Pulling(events)))
	case pod.Status.Phase == corev1.PodFailed:
		f := jobstatus.WhyFailed(pod, map[string]string{ProbeContainer: "raise --probe-memory of loadline-manager (probe.memory in the chart)"})
		o.State, o.Reason, o.Message = Failed, f.Reason, f.Message
		if f.Lost {
			o.State = Lost
		}
	case early:
		o.State, o.Reason, o.Message = Lost, jobstatus.ReasonDisrupted, fmt.Sprintf("pod %s was deleted", pod.Name)
	case pod.Status.Phase == corev1.PodUnknown:
		o.State, o.Reason, o.Message = Lost, jobstatus.ReasonDisrupted, fmt.Sprintf("nothing is known of pod %s any more", pod.Name)
	default:
		o.Reason, o.Message = jobstatus.Blocked(pod, events)
		switch {
		case o.Reason != "":
			o.State = pendingOrFailed(pod.CreationTimestamp, now)
		case !o.Started.IsZero():
			o.State = Running
		case now.Sub(pod.CreationTimestamp.Time) >= BeginWithin:
			o.State, o.Reason, o.Message = notBegun("", jobstatus.Pulling(events))
		}
	}
	return o
}

// withoutPod returns the outcome of a Job that has no pod.
func withoutPod(job *batchv1.Job, events []corev1.Event, now time.Time) Outcome {
	var o Outcome
	if refused := jobstatus.Latest(events, "FailedCreate"); refused != nil {
		o.State, o.Reason, o.Message = pendingOrFailed(job.CreationTimestamp, now), ReasonPodRefused, "the pod cannot be created: "+refused.Message
	}
	switch {
	case hasFailed(job) == batchv1.JobReasonDeadlineExceeded:
		o.State, o.Reason, o.Message = whyLate(job, time.Time{}, o.Reason, o.Message)
	case jobstatus.Finished(job):
		o = Outcome{State: Lost, Reason: ReasonGone, Message: fmt.Sprintf("the pod of Job %s is gone with its result", job.Name)}
	}
	return o
}

// podOf returns the latest pod of a Job, nil for none.
func podOf(job *batchv1.Job, pods []corev1.Pod) *corev1.Pod {
	var last *corev1.Pod
	for i := range pods {
		if pod := &pods[i]; metav1.IsControlledBy(pod, job) && (last == nil || last.CreationTimestamp.Before(&pod.CreationTimestamp)) {
			last = pod
		}
	}
	return last
}

func pendingOrFailed(since metav1.Time, now time.Time) State {
	if now.Sub(since.Time) < Grace {
		return Pending
	}
	return Failed
}

// hasFailed returns the reason for which a Job has failed, or will have when its pod
// has ended; "" if there is none.
func hasFailed(job *batchv1.Job) string {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget) && c.Status == corev1.ConditionTrue {
			return c.Reason
		}
	}
	return ""
}

// cutShort reports whether a pod was deleted before its containers had ended. Those
// that receive a signal may end well, and yet with half their work done. Times have
// whole seconds: a pod that was deleted in the second in which it ended counts as cut
// short.
func cutShort(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp.IsZero() {
		return false
	}
	deleted := deletedAt(pod)
	return !Ended(pod) || slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Terminated == nil || !s.State.Terminated.FinishedAt.Time.Before(deleted)
	})
}

// deletedAt returns when a pod was deleted. Its deletion timestamp is when it
// will be gone.
func deletedAt(pod *corev1.Pod) time.Time {
	grace := time.Duration(0)
	if seconds := pod.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	return pod.DeletionTimestamp.Add(-grace)
}

// afterDeadline reports whether a pod was deleted when its Job was overdue: the Job's
// controller did so, which says so later only. Their clocks may be a second apart.
func afterDeadline(job *batchv1.Job, pod *corev1.Pod) bool {
	limit, since := job.Spec.ActiveDeadlineSeconds, job.Status.StartTime
	if limit == nil || since == nil {
		return false
	}
	return !deletedAt(pod).Before(since.Add(time.Duration(*limit)*time.Second - time.Second))
}

// started returns when the first container began, the zero time before.
func started(pod *corev1.Pod) time.Time {
	var first time.Time
	for _, s := range pod.Status.ContainerStatuses {
		var at time.Time
		switch {
		case s.State.Running != nil:
			at = s.State.Running.StartedAt.Time
		case s.State.Terminated != nil:
			at = s.State.Terminated.StartedAt.Time
		}
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// messages returns the termination messages of a pod's containers.
func messages(pod *corev1.Pod) map[string]string {
	var left map[string]string
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if end := s.State.Terminated; end != nil {
			if left == nil {
				left = map[string]string{}
			}
			left[s.Name] = end.Message
		}
	}
	return left
}
