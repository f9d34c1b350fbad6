package probejob

import (
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

// Attend lets a Job that runs go on for [unattendedSeconds] from now, up to its own
// deadline. Controllers call it each time they look after a Job; it writes when less than
// half of that time is left.
func Attend(ctx context.Context, c client.Client, job *batchv1.Job, now time.Time, fieldOwner string) error {
	seconds, due := extended(job, now)
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
func extended(job *batchv1.Job, now time.Time) (seconds int64, due bool) {
	limit, since := job.Spec.ActiveDeadlineSeconds, job.Status.StartTime
	if limit == nil || since == nil || jobstatus.Finished(job) || hasFailed(job) != "" || !job.DeletionTimestamp.IsZero() {
		return 0, false
	}
	elapsed := int64(now.Sub(since.Time) / time.Second)
	seconds = min(deadlineSeconds(job), elapsed+unattendedSeconds)
	return seconds, seconds > *limit && *limit-elapsed < unattendedSeconds/2
}

// deadlineSeconds returns how long a Job may take that is attended to.
func deadlineSeconds(job *batchv1.Job) int64 {
	if seconds, err := strconv.ParseInt(job.Annotations[DeadlineKey], 10, 64); err == nil {
		return seconds
	}
	if limit := job.Spec.ActiveDeadlineSeconds; limit != nil { // made before there was the annotation
		return *limit
	}
	return 0
}

// whyLate returns why a Job did not end in time: no manager attended to it, or it takes too
// long. What keeps its pod from beginning, if that is known, is the reason then.
func whyLate(job *batchv1.Job, blockedBy, how string) (state State, reason, message string) {
	limit, whole := job.Spec.ActiveDeadlineSeconds, deadlineSeconds(job)
	switch {
	case limit == nil:
		message = "it did not end in time"
	case *limit < whole:
		return Lost, ReasonUnattended, fmt.Sprintf("Job %s was ended because no manager attended to it for %d s", job.Name, unattendedSeconds)
	default:
		message = fmt.Sprintf("it did not end within %d s", whole)
	}
	if blockedBy == "" {
		return Failed, jobstatus.ReasonDeadline, message
	}
	return Failed, blockedBy, message + ": " + how
}
