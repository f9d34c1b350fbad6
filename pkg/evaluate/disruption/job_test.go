package disruption_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// worker is a pod of Job shop/etl whose container has run for 20 minutes, as changed.
func worker(changes ...func(*corev1.Pod)) corev1.Pod {
	p := pod("etl-x", of("Job", "etl"), func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(20 * time.Minute)}}},
			{Name: "helper", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Minute)}}},
		}
	})
	for _, change := range changes {
		change(&p)
	}
	return p
}

// etl returns a Job, as changed.
func etl(change func(*batchv1.Job)) []batchv1.Job {
	j := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "etl"}}
	change(&j)
	return []batchv1.Job{j}
}

// onDisruption has a failure policy for pods that are evicted.
func onDisruption(action batchv1.PodFailurePolicyAction) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.BackoffLimit = new(int32(0))
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: batchv1.PodFailurePolicyActionFailJob, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "ConfigIssue", Status: corev1.ConditionTrue}}},
			{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
		}}
	}
}

func TestWhatTheEvictionOfAPodOfAJobCosts(t *testing.T) {
	t.Parallel()
	const lost = "it starts again, and loses the work of 20m"
	for name, test := range map[string]struct {
		pod  corev1.Pod
		jobs []batchv1.Job
		want disruption.Verdict
	}{
		"of a Job that is not known": {pod: worker(), want: disruption.Verdict{
			LostSeconds: 1200, Notes: []string{lost, "it counts as a failure of Job shop/etl, unless the pod failure policy ignores condition DisruptionTarget"},
		}},
		"of one that bears failures": {
			pod: worker(), jobs: etl(func(j *batchv1.Job) { j.Status.Failed = 5 }),
			want: disruption.Verdict{LostSeconds: 1200, Notes: []string{lost, "it counts as a failure of Job shop/etl: backoffLimit is 6, and 5 pods have failed"}},
		},
		"of one that bears no more": {
			pod: worker(), jobs: etl(func(j *batchv1.Job) { j.Spec.BackoffLimit, j.Status.Failed = new(int32(1)), 1 }),
			want: disruption.Verdict{Refused: "an eviction counts as a failure, and Job shop/etl would fail: backoffLimit is 1, and 1 pod has failed"},
		},
		"of one that ignores evictions": {
			pod: worker(), jobs: etl(onDisruption(batchv1.PodFailurePolicyActionIgnore)),
			want: disruption.Verdict{LostSeconds: 1200, Notes: []string{lost, "it does not count as a failure of Job shop/etl, by its pod failure policy"}},
		},
		"of one that counts evictions": {
			pod: worker(), jobs: etl(onDisruption(batchv1.PodFailurePolicyActionCount)),
			want: disruption.Verdict{Refused: "an eviction counts as a failure, and Job shop/etl would fail: backoffLimit is 0, and 0 pods have failed"},
		},
		"of one that fails by evictions": {
			pod: worker(), jobs: etl(onDisruption(batchv1.PodFailurePolicyActionFailJob)),
			want: disruption.Verdict{Refused: "the pod failure policy of Job shop/etl is FailJob for a pod that is evicted"},
		},
		"of an index that bears failures": {
			pod: worker(annotated("batch.kubernetes.io/job-index-failure-count", "1")), jobs: etl(func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex, j.Status.Failed = new(int32(2)), 100 }),
			want: disruption.Verdict{LostSeconds: 1200, Notes: []string{lost, "it counts as a failure of Job shop/etl: backoffLimitPerIndex is 2, and 1 pod has failed"}},
		},
		"of an index that bears no more": {
			pod: worker(annotated("batch.kubernetes.io/job-index-failure-count", "2")), jobs: etl(func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = new(int32(2)) }),
			want: disruption.Verdict{Refused: "an eviction counts as a failure, and Job shop/etl would fail: backoffLimitPerIndex is 2, and 2 pods have failed"},
		},
		"of one that waits for the end of the old": {
			pod: worker(), jobs: etl(func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = new(batchv1.Failed) }),
			want: disruption.Verdict{LostSeconds: 1200, Notes: []string{
				lost, "it counts as a failure of Job shop/etl: backoffLimit is 6, and 0 pods have failed", "its replacement is made only when it has ended",
			}},
		},
		"that has not begun": {
			pod: worker(func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main"}} }), jobs: etl(onDisruption(batchv1.PodFailurePolicyActionIgnore)),
			want: disruption.Verdict{Notes: []string{"it does not count as a failure of Job shop/etl, by its pod failure policy"}},
		},
		"whose containers say nothing": {
			pod: worker(func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }), jobs: etl(onDisruption(batchv1.PodFailurePolicyActionIgnore)),
			want: disruption.Verdict{LostSeconds: 3600, Notes: []string{
				"it starts again, and loses the work of 60m", "it does not count as a failure of Job shop/etl, by its pod failure policy",
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rules(t, disruption.Input{Pods: []corev1.Pod{test.pod}, Jobs: test.jobs})
			if diff := cmp.Diff(test.want, r.Evict(&test.pod)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
