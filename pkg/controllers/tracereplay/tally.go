package tracereplay

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/evaluate/replays"
)

// tally is where each run stands.
type tally struct {
	// results are those of the runs that ended well.
	results map[int]*replays.Result
	// further are the results that are not stored yet, as the pods left them.
	further map[int]string
	// seconds is how long the runs in further took.
	seconds map[int]float64
	// failures are the runs that were given up.
	failures map[int]failure
	// active is how many pods are going on.
	active int32
	// stuck says why some pod does not begin, "" when none is stuck.
	stuck string
}

// failure is why a run was given up.
type failure struct {
	message string
	// badInput is true when the run itself found that it cannot end well.
	badInput bool
}

// count finds the state of each of the runs: from the stored results, from the Jobs and from their
// pods. With an error it returns the name of the Job that differs from the one made.
func count(stored []*corev1.ConfigMap, jobs []batchv1.Job, pods []corev1.Pod, total int) (t *tally, bad string, err error) {
	t = &tally{
		results: readResults(stored, total), further: map[int]string{}, seconds: map[int]float64{}, failures: map[int]failure{},
	}
	for i := range jobs {
		if err := t.countJob(&jobs[i], pods, total); err != nil {
			return nil, jobs[i].Name, err
		}
	}
	return t, "", nil
}

func (t *tally) countJob(job *batchv1.Job, pods []corev1.Pod, total int) error {
	runs, err := parseRuns(job.Spec.Template.Annotations[runsKey], total)
	if err != nil {
		return fmt.Errorf("annotation %s of its pods: %w", runsKey, err)
	}
	failed := map[int]*corev1.Pod{}
	for i := range pods {
		pod := &pods[i]
		run, ok := runOf(pod, runs)
		if !ok || !metav1.IsControlledBy(pod, job) {
			continue
		}
		switch pod.Status.Phase {
		case corev1.PodSucceeded:
			t.countResult(run, pod)
		case corev1.PodFailed:
			if last := failed[run]; last == nil || last.CreationTimestamp.Before(&pod.CreationTimestamp) {
				failed[run] = pod
			}
		default:
			t.active++
			if _, why := jobstatus.Blocked(pod, nil); t.stuck == "" && why != "" {
				t.stuck = fmt.Sprintf("pod %s waits: %s", pod.Name, why)
			}
		}
	}
	if job.Status.FailedIndexes == nil {
		return nil
	}
	indexes, err := parseIndexes(*job.Status.FailedIndexes, len(runs))
	if err != nil {
		return fmt.Errorf("status.failedIndexes: %w", err)
	}
	for _, index := range indexes {
		if run := runs[index]; t.results[run] == nil {
			t.failures[run] = whyFailed(failed[run])
		}
	}
	return nil
}

// countResult takes the result that a pod left, if it left one.
func (t *tally) countResult(run int, pod *corev1.Pod) {
	end := terminated(pod)
	if end == nil || t.results[run] != nil {
		return
	}
	result, err := replays.DecodeResult(end.Message)
	if err != nil {
		return
	}
	t.results[run], t.further[run] = result, end.Message
	t.seconds[run] = end.FinishedAt.Sub(end.StartedAt.Time).Seconds()
}

// missing lists those of some runs that have neither a result nor failed.
func (t *tally) missing(runs []int) []int {
	return slices.DeleteFunc(slices.Clone(runs), func(run int) bool {
		_, failed := t.failures[run]
		return failed || t.results[run] != nil
	})
}

// giveUp counts runs as failed.
func (t *tally) giveUp(runs []int, why failure) {
	for _, run := range runs {
		t.failures[run] = why
	}
	t.active = 0
}

// terminated returns how the container of a pod ended, nil while it has not.
func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Name == containerName {
			return s.State.Terminated
		}
	}
	return nil
}

// remedies say how the memory limit of a run is raised.
var remedies = map[string]string{containerName: "raise --replay-memory of loadline-manager (replay.memory in the chart)"}

// whyFailed returns why a run was given up, from its last pod; nil when that is gone. The run's own
// message takes precedence over the pod's status.
func whyFailed(pod *corev1.Pod) failure {
	if pod == nil {
		return failure{message: "its pods failed, and are gone with the reason"}
	}
	why := jobstatus.WhyFailed(pod, remedies)
	f := failure{message: why.Message}
	if end := terminated(pod); end != nil && why.Reason == jobstatus.ReasonExitCode {
		f.badInput = end.ExitCode == exitBadInput
		if said := strings.TrimSpace(end.Message); said != "" {
			f.message = strings.TrimPrefix(said, "Error: ")
		}
	}
	return f
}
