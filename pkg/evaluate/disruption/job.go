package disruption

import (
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"loadline.dev/loadline/pkg/text"
)

// work returns for how many seconds the work ran that an eviction of a pod loses: of one that runs to completion, since its containers
// started last.
func (r *Rules) work(pod *corev1.Pod) float64 {
	if pod.Spec.RestartPolicy == corev1.RestartPolicyAlways || pod.Spec.RestartPolicy == "" {
		return 0
	}
	var since time.Time
	for i := range pod.Status.ContainerStatuses {
		if running := pod.Status.ContainerStatuses[i].State.Running; running != nil && (since.IsZero() || running.StartedAt.Time.Before(since)) {
			since = running.StartedAt.Time
		}
	}
	if since.IsZero() && len(pod.Status.ContainerStatuses) == 0 {
		since = began(pod)
	}
	if since.IsZero() {
		return 0
	}
	return max(0, r.in.Now.Sub(since).Seconds())
}

// lasting writes for how long work ran.
func lasting(seconds float64) string {
	return duration.HumanDuration(time.Duration(seconds * float64(time.Second)))
}

// job is the Job of a pod, as far as it is known.
type job struct {
	name  string // with its namespace
	known *batchv1.Job
}

// jobOf returns the Job of a pod, nil for none.
func (r *Rules) jobOf(pod *corev1.Pod) *job {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind != "Job" {
		return nil
	}
	return &job{pod.Namespace + "/" + ref.Name, r.jobs[types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}]}
}

// onEviction returns what the failure policy of a Job does with a pod that was evicted. A rule on exit codes before it may take it first.
func (j *job) onEviction() batchv1.PodFailurePolicyAction {
	if policy := j.known.Spec.PodFailurePolicy; policy != nil {
		for i := range policy.Rules {
			for _, c := range policy.Rules[i].OnPodConditions {
				if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
					return policy.Rules[i].Action
				}
			}
		}
	}
	return batchv1.PodFailurePolicyActionCount
}

// failures returns how many failures count so far against the limit that an eviction of a pod would count against, and that limit
// with the name of its field.
func (j *job) failures(pod *corev1.Pod) (field string, failed, limit int64) {
	if perIndex := j.known.Spec.BackoffLimitPerIndex; perIndex != nil {
		failed, err := strconv.ParseInt(pod.Annotations[batchv1.JobIndexFailureCountAnnotation], 10, 64)
		if err != nil { // it is the first pod of its index
			failed = 0
		}
		return "backoffLimitPerIndex", failed, int64(*perIndex)
	}
	limit = 6 // the default of the API
	if l := j.known.Spec.BackoffLimit; l != nil {
		limit = int64(*l)
	}
	return "backoffLimit", int64(j.known.Status.Failed), limit
}

// refuses says why the Job would fail with the pod, "" where it would not.
func (j *job) refuses(pod *corev1.Pod) string {
	if j.known == nil {
		return ""
	}
	switch action := j.onEviction(); action {
	case batchv1.PodFailurePolicyActionIgnore:
		return ""
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex:
		return fmt.Sprintf("the pod failure policy of Job %s is %s for a pod that is evicted", j.name, action)
	case batchv1.PodFailurePolicyActionCount:
	}
	if field, failed, limit := j.failures(pod); failed+1 > limit {
		return fmt.Sprintf("an eviction counts as a failure, and Job %s would fail: %s is %s, and %s", j.name, field, text.Count(limit), failedSoFar(failed))
	}
	return ""
}

func failedSoFar(n int64) string {
	if n == 1 {
		return "1 pod has failed"
	}
	return text.Count(n) + " pods have failed"
}

// notes say how the eviction of a pod counts for the Job, and when it starts again.
func (j *job) notes(pod *corev1.Pod) (notes []string) {
	if j.known == nil {
		return []string{fmt.Sprintf("it counts as a failure of Job %s, unless the pod failure policy ignores condition %s", j.name, corev1.DisruptionTarget)}
	}
	if j.onEviction() == batchv1.PodFailurePolicyActionIgnore {
		notes = append(notes, fmt.Sprintf("it does not count as a failure of Job %s, by its pod failure policy", j.name))
	} else {
		field, failed, limit := j.failures(pod)
		notes = append(notes, fmt.Sprintf("it counts as a failure of Job %s: %s is %s, and %s", j.name, field, text.Count(limit), failedSoFar(failed)))
	}
	if p := j.known.Spec.PodReplacementPolicy; p != nil && *p == batchv1.Failed {
		notes = append(notes, "its replacement is made only when it has ended")
	}
	return notes
}
