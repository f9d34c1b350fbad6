//go:build e2e

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestATraceReplayRunsInPods(t *testing.T) { //nolint:paralleltest // it takes a worker's core
	namespace := cluster.NewNamespace(t)
	var profile v1alpha1.WorkloadProfile
	var trace corev1.ConfigMap
	var generated, recorded v1alpha1.TraceReplay
	cluster.CreateFrom(t, "testdata/tracereplay.yaml", namespace, &profile, &trace, &generated, &recorded)

	for _, replay := range []*v1alpha1.TraceReplay{&generated, &recorded} {
		complete := cluster.AwaitCondition(t, replay, &replay.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionTrue)
		if complete.Reason != v1alpha1.ReasonSucceeded {
			t.Errorf("%s: %s: %s, want %s", replay.Name, complete.Reason, complete.Message, v1alpha1.ReasonSucceeded)
		}
		if len(replay.Status.Results) != 2 || replay.Status.Best == "" {
			t.Errorf("%s: the status has %d results and the best is %q, want 2 and one of them", replay.Name, len(replay.Status.Results), replay.Status.Best)
		}
	}
}

func TestATraceReplayWaitsForItsVolume(t *testing.T) {
	t.Parallel()
	replay := &v1alpha1.TraceReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.NewNamespace(t), Name: "last-week"},
		Spec: v1alpha1.TraceReplaySpec{
			Trace: &v1alpha1.ReplayTrace{PersistentVolumeClaim: &v1alpha1.ClaimPath{ClaimName: "traces", Path: "week.csv"}},
			Nodes: []v1alpha1.ReplayNodes{{Name: "worker", Count: new(int32(2))}},
		},
	}
	must(t, cluster.Create(t.Context(), replay))
	complete := cluster.AwaitCondition(t, replay, &replay.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionFalse)
	if want := `waiting for PersistentVolumeClaim "traces"`; complete.Reason != v1alpha1.ReasonPending || !strings.Contains(complete.Message, want) {
		t.Errorf("%s: %s, want %s: %s", complete.Reason, complete.Message, v1alpha1.ReasonPending, want)
	}
}
