package calibration

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// input holds the inputs of a plan.
type input struct {
	profile  *v1alpha1.NodeProfile
	settings *probejob.Settings
	now      metav1.Time
	// failures are those that are not to be tried again yet, by resource.
	failures map[string]probejob.Failure
	// jobs are those of the profile, and lingering reports whether a pod of theirs
	// has not ended.
	jobs      []batchv1.Job
	lingering bool
	// outcome is that of the current Job, and node where it runs, nil if there is
	// no such node. Both are unset without one.
	outcome probejob.Outcome
	node    *corev1.Node
	// site is the node on which a calibration can begin, where no other measurement runs,
	// "" if there is none: noSite says why, where one is looked for.
	site   string
	noSite problem
}

// problem is why a calibration cannot begin or has not ended: the reason and message of
// the condition. The zero value is none.
type problem struct{ reason, message string }

// current returns the question that is being answered and the attempt at it. It is
// nil when none is, or when its answer is no longer needed.
func (in *input) current() (*question, int32) {
	progress := in.profile.Status.Calibrating
	if progress == nil {
		return nil, 0
	}
	all := questions(in.profile)
	i := slices.IndexFunc(all, func(q question) bool { return q.resource == progress.Resource })
	if i < 0 || !in.due(&all[i]) {
		return nil, 0
	}
	return &all[i], attempts(progress)
}

func attempts(progress *v1alpha1.CalibrationProgress) int32 {
	if progress.Attempts == nil {
		return 1
	}
	return min(max(*progress.Attempts, 1), maxAttempts)
}

// due reports whether a question has no answer that holds.
func (in *input) due(q *question) bool {
	_, until := q.answer(in.profile)
	return !in.now.Time.Before(until)
}

// failed returns the failure of a question that is not to be asked again yet.
func (in *input) failed(q *question) *probejob.Failure {
	f := in.failures[q.resource]
	if !f.Holds(q.id(), in.now.Time) {
		return nil
	}
	return &f
}

// next returns the question to be answered now, and the attempt at it; nil for
// none.
func (in *input) next() (*question, int32) {
	if q, attempt := in.current(); q != nil {
		return q, attempt
	}
	for _, q := range questions(in.profile) {
		if in.due(&q) && in.failed(&q) == nil {
			return &q, 1
		}
	}
	return nil, 0
}

// job returns the Job of the current calibration, nil for none.
func (in *input) job() *batchv1.Job {
	q, attempt := in.current()
	if q == nil {
		return nil
	}
	name := q.jobName(in.profile, attempt)
	i := slices.IndexFunc(in.jobs, func(j batchv1.Job) bool { return j.Name == name })
	if i < 0 {
		return nil
	}
	return &in.jobs[i]
}

// all returns all Jobs of the profile.
func (in *input) all() []*batchv1.Job {
	all := make([]*batchv1.Job, len(in.jobs))
	for i := range in.jobs {
		all[i] = &in.jobs[i]
	}
	return all
}

// others returns the Jobs that belong to no calibration that goes on.
func (in *input) others() []*batchv1.Job {
	current := in.job()
	var others []*batchv1.Job
	for i := range in.jobs {
		if job := &in.jobs[i]; current == nil || job.Name != current.Name {
			others = append(others, job)
		}
	}
	return others
}

// soonest returns when the next attempt may begin.
func (in *input) soonest() time.Time {
	progress := in.profile.Status.Calibrating
	if progress == nil || progress.StartTime == nil {
		return in.now.Time
	}
	apart := attemptsApart * time.Duration(int(1)<<(attempts(progress)-1)-1)
	return progress.StartTime.Add(apart)
}

// occupied reports whether runs that are over still take up their node.
func (in *input) occupied() bool { return in.lingering || len(in.jobs) > 0 }

// canBegin reports whether a node to begin on is all that is missing.
func (in *input) canBegin() bool {
	q, _ := in.next()
	return q != nil && !in.occupied() && !in.now.Time.Before(in.soonest())
}

// withFailure returns the failures after the end of a calibration.
func (in *input) withFailure(e *ending) map[string]probejob.Failure {
	all := map[string]probejob.Failure{}
	for resource, f := range in.failures {
		if resource != e.resource {
			all[resource] = f
		}
	}
	if e.failure != nil {
		all[e.resource] = *e.failure
	}
	return all
}

// wake returns when the first answer gets too old or the first failure is tried
// again, 0 for never.
func (in *input) wake() time.Duration {
	var first time.Duration
	for _, q := range questions(in.profile) {
		_, at := q.answer(in.profile)
		if f := in.failed(&q); f != nil {
			at = f.Until
		}
		if d := max(at.Sub(in.now.Time), time.Second); first == 0 || d < first {
			first = d
		}
	}
	if in.occupied() {
		return watchEvery
	}
	return first
}
