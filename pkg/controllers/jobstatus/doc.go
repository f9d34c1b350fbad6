// Package jobstatus explains the status of Jobs and their pods in words for users: whether a Job
// has finished, the obstacles that keep a pod from beginning ([Blocked]), and why one failed
// ([WhyFailed]). It reads statuses and events only, whatever the pods run.
package jobstatus

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Reasons for which a pod does not begin, or has failed.
const (
	ReasonUnschedulable = "Unschedulable" // the pod does not fit on its node
	ReasonImage         = "Image"         // an image cannot be pulled
	ReasonContainer     = "Container"     // a container cannot be made or started
	ReasonVolume        = "Volume"        // a volume cannot be mounted
	ReasonNotBegun      = "NotBegun"      // it did not begin in time
	ReasonDeadline      = "Deadline"      // it took too long
	ReasonExitCode      = "ExitCode"      // a container ended badly
	ReasonKilled        = "Killed"        // a container was ended by a signal from outside
	ReasonOutOfMemory   = "OutOfMemory"   // the kernel killed a container for its use of memory
	ReasonEvicted       = "Evicted"       // the kubelet ended the pod, which used more than it may
	ReasonDisrupted     = "Disrupted"     // the pod was deleted, evicted for its node's sake, or lost with it
)

// Finished reports whether a Job has come to its end, and its pods too.
func Finished(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// Latest returns the last of the events with one of the reasons, nil for none.
func Latest(events []corev1.Event, reasons ...string) *corev1.Event {
	var last *corev1.Event
	for i := range events {
		if e := &events[i]; slices.Contains(reasons, e.Reason) && (last == nil || seen(last).Before(seen(e))) {
			last = e
		}
	}
	return last
}

// seen returns when an event was last seen.
func seen(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	default:
		return e.CreationTimestamp.Time
	}
}
