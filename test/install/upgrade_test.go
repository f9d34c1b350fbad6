//go:build e2e

package install

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/live"
)

// neutral is how long the job takes alone that is measured during the upgrade.
const neutral = 8 * time.Second

// upgradeLosesNothing upgrades from the previous version while a measurement and a
// replay are going on, and a pod waits for a place.
func upgradeLosesNothing(t *testing.T) {
	clearAway(t)
	letReadNamespaces(t)
	installPrevious(t)
	namespace := cluster.NewNamespace(t)
	node, other := cluster.Workers[0].Name, cluster.Workers[1].Name
	keepReplaysOff(t, namespace, node)

	waiting := cluster.ProbePod(namespace, "waiting", other, "run", "--job", "cpu", "--duration", "1s")
	waiting.Spec.SchedulerName, waiting.Spec.NodeSelector = "loadline", map[string]string{place: "yes"}
	must(t, cluster.Create(t.Context(), waiting))
	cluster.CronJob(t, namespace, "report", cluster.HalfBusy(cluster.Speed(t, namespace, node), int(neutral/live.PerRound)))
	profile := live.ProfileOf(namespace, "report", node)
	must(t, cluster.Create(t.Context(), profile))
	job, replay := &v1alpha1.WorkloadProfile{}, &v1alpha1.TraceReplay{}
	cluster.CreateFrom(t, "testdata/replay.yaml", namespace, job, replay)

	cluster.Await(t, "the pod waits for a place", waiting, func() (bool, string) {
		return scheduled(waiting) == corev1.ConditionFalse, live.State(waiting)
	})
	cluster.Await(t, "the measurement is going on", profile, func() (bool, string) {
		return profile.Status.Measuring != nil, live.Stand(profile)
	})
	cluster.Await(t, "the replay is going on", replay, func() (bool, string) { return ended(replay) >= 1, standOf(replay) })
	// The runs that the previous version started ask for a core each, which is all that a node here has: see docs/upgrade.md.
	install(t, "--set", "gauge.enabled=false")

	must(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(replay), replay))
	if replay.Status.CompletionTime != nil {
		t.Errorf("the replay was over before the upgrade was, which shows nothing: %s", standOf(replay))
	}
	cluster.AwaitResult(t, profile)
	live.CheckMeasured(t, profile, node)
	cluster.AwaitNothingLeft(t, profile.UID)

	complete := cluster.AwaitCondition(t, replay, &replay.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionTrue)
	if runs := replay.Status.Runs; complete.Reason != v1alpha1.ReasonSucceeded || *runs.Succeeded != *runs.Total {
		t.Errorf("%s: %s; %s", complete.Reason, complete.Message, standOf(replay))
	}
	must(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(waiting), waiting))
	if scheduled(waiting) != corev1.ConditionFalse {
		t.Errorf("the pod no longer waits: %s", live.State(waiting))
	}
	makePlace(t, other)
	cluster.AwaitEnd(t, waiting)
}

// place is the label of the node that the waiting pod waits for.
const place = "loadline.dev/e2e-place"

// makePlace makes a place for the waiting pod on a node, until the test ends.
func makePlace(t *testing.T, name string) {
	t.Helper()
	label := func(ctx context.Context, value string) error {
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {%q: %s}}}`, place, value)
		return cluster.Patch(ctx, live.Node(name), client.RawPatch(types.MergePatchType, patch))
	}
	must(t, label(t.Context(), `"yes"`))
	t.Cleanup(func() {
		if err := label(context.WithoutCancel(t.Context()), "null"); err != nil {
			t.Error(err)
		}
	})
}

// scheduled reports whether a pod has a place: True, False or, before a scheduler has
// looked for one, "".
func scheduled(pod *corev1.Pod) corev1.ConditionStatus {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Status
		}
	}
	return ""
}

// ended returns how many runs of a replay have ended well.
func ended(replay *v1alpha1.TraceReplay) int32 {
	if replay.Status.Runs == nil || replay.Status.Runs.Succeeded == nil {
		return 0
	}
	return *replay.Status.Runs.Succeeded
}

// standOf tells how a replay stands.
func standOf(replay *v1alpha1.TraceReplay) string {
	text := "no condition"
	if c := meta.FindStatusCondition(replay.Status.Conditions, v1alpha1.ConditionComplete); c != nil {
		text = c.Reason + ": " + c.Message
	}
	return fmt.Sprintf("%s (%d runs ended well)", text, ended(replay))
}

// keepReplaysOff has a pod that does nothing run on a node, so that the runs of a
// replay, which ask for a whole CPU, do not fit there. It belongs to the node, so that
// it disturbs no measurement.
func keepReplaysOff(t *testing.T, namespace, node string) {
	t.Helper()
	labels := map[string]string{"app": "idle"}
	spec := cluster.ProbeSpec("sink", "--listen", ":7070")
	spec.RestartPolicy, spec.Affinity = corev1.RestartPolicyAlways, live.OnNode(node)
	spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("50m")
	idle := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "idle"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}
	must(t, cluster.Create(t.Context(), idle))
	cluster.Await(t, "the idle pod runs", idle, func() (bool, string) {
		return idle.Status.NumberReady == 1, fmt.Sprintf("%+v", idle.Status)
	})
}
