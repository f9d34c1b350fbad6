package tracereplay

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestPodsKeepToTheRestrictedStandardAndHaveNoToken(t *testing.T) {
	t.Parallel()
	replay := compare()
	replay.Spec.Output = &v1alpha1.ReplayOutput{PersistentVolumeClaim: v1alpha1.ClaimPath{ClaimName: "data", Path: "out"}}
	template := asked().worker.job(replay, 1, []int{0}, time.Hour).Spec.Template
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, r := range evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec) {
		if !r.Allowed {
			t.Errorf("%s: %s", r.ForbiddenReason, r.ForbiddenDetail)
		}
	}
	worker := *asked().worker
	worker.AnyUser = true
	chosen, fixed := worker.job(replay, 1, []int{0}, time.Hour).Spec.Template.Spec.SecurityContext, template.Spec.SecurityContext
	if *fixed.RunAsUser != 65532 || *fixed.FSGroup != 65532 || chosen.RunAsUser != nil || chosen.RunAsGroup != nil || chosen.FSGroup != nil {
		t.Errorf("the pod runs with %+v, and where the cluster chooses the user with %+v", fixed, chosen)
	}
	if *template.Spec.AutomountServiceAccountToken {
		t.Error("the pod has a token")
	}
	if !*template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the root file system can be written")
	}
}

func TestThePodSeesItsTraceAndItsOutput(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec   v1alpha1.TraceReplaySpec
		args   string
		mounts []corev1.VolumeMount
	}{
		"generated jobs": {
			v1alpha1.TraceReplaySpec{},
			"",
			[]corev1.VolumeMount{{Name: "question", MountPath: "/etc/loadline/replay", ReadOnly: true}},
		},
		"a trace in a ConfigMap": {
			v1alpha1.TraceReplaySpec{Trace: &v1alpha1.ReplayTrace{ConfigMap: &v1alpha1.ConfigMapKey{Name: "traces", Key: "week.csv"}}},
			" --trace /etc/loadline/trace/week.csv",
			[]corev1.VolumeMount{
				{Name: "question", MountPath: "/etc/loadline/replay", ReadOnly: true},
				{Name: "trace", MountPath: "/etc/loadline/trace", ReadOnly: true},
			},
		},
		"a trace and the output on one volume": {
			v1alpha1.TraceReplaySpec{
				Trace:  &v1alpha1.ReplayTrace{PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "data", Path: "traces/week.csv.gz"}},
				Output: &v1alpha1.ReplayOutput{PersistentVolumeClaim: v1alpha1.ClaimPath{ClaimName: "data", Path: "out"}},
			},
			" --trace /etc/loadline/trace/traces/week.csv.gz --jobs-to /var/lib/loadline/output/out",
			[]corev1.VolumeMount{
				{Name: "question", MountPath: "/etc/loadline/replay", ReadOnly: true},
				{Name: "trace", MountPath: "/etc/loadline/trace", ReadOnly: true},
				{Name: "output", MountPath: "/var/lib/loadline/output"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replay := compare()
			replay.Spec = test.spec
			container := asked().worker.job(replay, 1, []int{0}, time.Hour).Spec.Template.Spec.Containers[0]
			want := "kubectl-loadline replay --filename /etc/loadline/replay/replay.yaml --worker-runs /etc/loadline/replay/runs" +
				" --worker-index $(JOB_COMPLETION_INDEX) --worker-result /dev/termination-log" + test.args
			if diff := cmp.Diff(want, strings.Join(container.Command, " ")); diff != "" {
				t.Errorf("unexpected command (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.mounts, container.VolumeMounts); diff != "" {
				t.Errorf("unexpected mounts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJobHasNoMorePodsAtOnceThanRuns(t *testing.T) {
	t.Parallel()
	replay, worker := compare(), asked().worker
	if got := *worker.job(replay, 1, make([]int, 3), time.Hour).Spec.Parallelism; got != 3 {
		t.Errorf("3 runs: %d pods at once", got)
	}
	if got := *worker.job(replay, 1, make([]int, 30), time.Hour).Spec.Parallelism; got != 4 {
		t.Errorf("30 runs: %d pods at once, want 4 by default", got)
	}
	replay.Spec.Parallelism = new(int32(20))
	if got := *worker.job(replay, 1, make([]int, 30), time.Hour).Spec.Parallelism; got != 20 {
		t.Errorf("30 runs, parallelism 20: %d pods at once", got)
	}
	worker.MaxParallelism = 10
	if got := *worker.job(replay, 1, make([]int, 30), time.Hour).Spec.Parallelism; got != 10 {
		t.Errorf("30 runs, parallelism 20, of which the operator allows 10: %d pods at once", got)
	}
}
