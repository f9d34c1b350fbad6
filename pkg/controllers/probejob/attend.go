package probejob

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/controllers/jobstatus"
)

// unattendedSeconds is for how long a Job runs, and stays once it has ended, without a
// manager that attends to it. A profile may outlive the manager, and keeps its Jobs from
// being collected: so they end by themselves.
const unattendedSeconds = 120

// Attend lets a Job go on for [unattendedSeconds] from now, up to its deadline, which counts from
// when its pod began: the zero time where that is still to come. Controllers call it each time they
// look after a Job; it writes when less than half of that time is left.
func Attend(ctx context.Context, c client.Client, job *batchv1.Job, began, now time.Time, fieldOwner string) error {
	seconds, due := extended(job, began, now)
	if !due {
		return nil
	}
	before := job.DeepCopy()
	job.Spec.ActiveDeadlineSeconds = &seconds
	if err := c.Patch(ctx, job, client.MergeFrom(before), client.FieldOwner(fieldOwner)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("extending the deadline of Job %s: %w", client.ObjectKeyFromObject(job), err)
	}
	return nil
}

// extended returns the activeDeadlineSeconds that a Job should have now, and whether it is
// due to be written.
func extended(job *batchv1.Job, began, now time.Time) (seconds int64, due bool) {
	limit, since := job.Spec.ActiveDeadlineSeconds, job.Status.StartTime
	if limit == nil || since == nil || jobstatus.Finished(job) || hasFailed(job) != "" || !job.DeletionTimestamp.IsZero() {
		return 0, false
	}
	elapsed := int64(now.Sub(since.Time) / time.Second)
	seconds = min(beforeSeconds(job, began)+deadlineSeconds(job), elapsed+unattendedSeconds)
	return seconds, seconds > *limit && *limit-elapsed < unattendedSeconds/2
}

// deadlineSeconds returns how long a Job may take that is attended to, from when its pod begins.
func deadlineSeconds(job *batchv1.Job) int64 {
	if seconds, err := strconv.ParseInt(job.Annotations[DeadlineKey], 10, 64); err == nil {
		return seconds
	}
	if limit := job.Spec.ActiveDeadlineSeconds; limit != nil { // made before there was the annotation
		return *limit
	}
	return 0
}

// beforeSeconds returns the time that a Job took until its pod began, or the time that it may take
// where it has not: pulling an image does not use up the time of the work.
func beforeSeconds(job *batchv1.Job, began time.Time) int64 {
	since := job.Status.StartTime
	switch {
	case began.IsZero():
		return int64(BeginWithin / time.Second)
	case since == nil || began.Before(since.Time):
		return 0
	default:
		return int64(began.Sub(since.Time) / time.Second)
	}
}

// whyLate returns why a Job did not end in time: no manager attended to it, its pod did not begin,
// with the obstacle where that is known, or it takes too long.
func whyLate(job *batchv1.Job, began time.Time, blockedBy, how string) (state State, reason, message string) {
	limit, whole := job.Spec.ActiveDeadlineSeconds, deadlineSeconds(job)
	switch {
	case limit != nil && *limit < beforeSeconds(job, began)+whole:
		return Lost, ReasonUnattended, fmt.Sprintf("Job %s was ended because no manager attended to it for %d s", job.Name, unattendedSeconds)
	case began.IsZero():
		return notBegun(blockedBy, how)
	default:
		return Failed, jobstatus.ReasonDeadline, fmt.Sprintf("it did not end within %d s", whole)
	}
}

// notBegun returns the outcome of a Job whose pod did not begin within [BeginWithin].
func notBegun(blockedBy, how string) (state State, reason, message string) {
	message = fmt.Sprintf("it did not begin within %d s", int(BeginWithin/time.Second))
	if how != "" {
		message += ": " + how
	}
	return Failed, cmp.Or(blockedBy, jobstatus.ReasonNotBegun), message
}
