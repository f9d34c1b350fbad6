//go:build e2e

package e2e

import (
	"math"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/live"
)

// How long the synthetic job runs when it is measured: in time, and in rounds.
const (
	shortWhile = 4 * time.Second
	endlessly  = 80_000
)

func TestAJobIsMeasured(t *testing.T) {
	t.Parallel()
	node := reserve(t, 0)[0]
	namespace := cluster.NewNamespace(t)
	const neutral = 8 * time.Second
	cluster.CronJob(t, namespace, "report", cluster.HalfBusy(cluster.Speed(t, namespace, node), int(neutral/live.PerRound)))
	profile := live.ProfileOf(namespace, "report", node)
	must(t, cluster.Create(t.Context(), profile))

	cluster.AwaitResult(t, profile)
	live.CheckMeasured(t, profile, node)
	if got := *profile.Status.Measurements[0].NeutralMillis; math.Abs(float64(got)/1000-neutral.Seconds()) > 0.1*neutral.Seconds() {
		t.Errorf("the neutral time is %d ms, want %v ± 10 %%", got, neutral)
	}
	awaitInUse(t, profile)
	cluster.AwaitNothingLeft(t, profile.UID)
}

func TestAServiceIsMeasuredAsItRuns(t *testing.T) {
	t.Parallel()
	nodes := reserve(t, 0, 1)
	namespace := cluster.NewNamespace(t)
	spec := cluster.HalfBusy(cluster.Speed(t, namespace, nodes[0]), endlessly)
	spec.RestartPolicy, spec.Affinity = corev1.RestartPolicyAlways, live.OnNode(nodes[0])
	service := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cart"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cart"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "cart"}}, Spec: spec},
		},
	}
	must(t, cluster.Create(t.Context(), service))
	cluster.Await(t, "the service runs", service, func() (bool, string) {
		return service.Status.AvailableReplicas == 1, "it is not available"
	})
	before := servicePod(t, namespace)

	profile := live.ProfileOf(namespace, "cart", nodes...)
	profile.Spec.Measurement.Target, profile.Spec.Measurement.TimeoutSeconds = nil, new(int64(10))
	must(t, cluster.Create(t.Context(), profile))
	cluster.AwaitResult(t, profile)
	live.CheckMeasured(t, profile, nodes[0])
	if m := profile.Status.Measurements[0]; m.NeutralMillis != nil {
		t.Errorf("a service has no neutral time, and it is said to be %d ms", *m.NeutralMillis)
	}
	awaitInUse(t, profile)
	cluster.AwaitNothingLeft(t, profile.UID)

	after := servicePod(t, namespace)
	if before.UID != after.UID || after.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("the service was touched: pod %s before, %s with %d restarts after", before.UID, after.UID, after.Status.ContainerStatuses[0].RestartCount)
	}
}

// servicePod returns the one pod of the service in a namespace.
func servicePod(t *testing.T, namespace string) *corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	must(t, cluster.List(t.Context(), &pods, client.InNamespace(namespace), client.MatchingLabels{"app": "cart"}))
	if len(pods.Items) != 1 {
		t.Fatalf("the service has %d pods, want 1", len(pods.Items))
	}
	return &pods.Items[0]
}

// awaitInUse waits until the scheduler uses what was measured.
func awaitInUse(t *testing.T, profile *v1alpha1.WorkloadProfile) {
	t.Helper()
	cluster.AwaitCondition(t, profile, &profile.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue)
	measured := profile.Status.Measurements[0].Resources[0].Loading
	cluster.Await(t, "the measured vector is in use", profile, func() (bool, string) {
		used := profile.Status.Resources
		return len(used) == 1 && used[0].Loading != nil && used[0].Loading.Cmp(*measured) == 0, "another one is"
	})
}
