//go:build e2e

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestATraceReplayRunsInPods(t *testing.T) { //nolint:paralleltest // it takes a worker's core
	namespace := newNamespace(t)
	var profile v1alpha1.WorkloadProfile
	var replay v1alpha1.TraceReplay
	createFrom(t, "tracereplay.yaml", namespace, &profile, &replay)

	complete := awaitCondition(t, &replay, &replay.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionTrue)
	if complete.Reason != v1alpha1.ReasonSucceeded {
		t.Errorf("%s: %s, want %s", complete.Reason, complete.Message, v1alpha1.ReasonSucceeded)
	}
	if len(replay.Status.Results) != 2 || replay.Status.Best == "" {
		t.Errorf("the status has %d results and the best is %q, want 2 and one of them", len(replay.Status.Results), replay.Status.Best)
	}
}
