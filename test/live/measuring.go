package live

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/probe/result"
)

// tolerance is how far a measured loading may be from what is known of the pod.
// Machines that run such tests are noisy; how precise a measurement is at best is
// another question, which "make demo-nodes" answers.
const tolerance = 0.1

// The synthetic job that is measured: half of its time it computes.
const (
	burst   = 20 * time.Millisecond // of computing, and of idling
	trueCPU = 0.5
	// PerRound is how long each of its rounds takes when it runs alone.
	PerRound = 2 * burst
)

// HalfBusy returns the pod of a synthetic job that computes half of its time, for
// a number of rounds. Its work is the same in every run: how fast the node is was
// found out beforehand, by [Cluster.Speed].
func (c *Cluster) HalfBusy(unitsPerSecond float64, rounds int) corev1.PodSpec {
	return c.ProbeSpec("load", "--demand", "cpu="+burst.String(), "--idle", burst.String(), "--rounds", strconv.Itoa(rounds),
		"--units-per-second", fmt.Sprintf("cpu=%g", unitsPerSecond))
}

// Speed returns how fast a node computes for one who is alone there, in units of the
// standard job.
func (c *Cluster) Speed(t *testing.T, namespace, node string) float64 {
	t.Helper()
	pod := c.RunPod(t, c.ProbePod(namespace, "speed-"+node, node, "run", "--job", "cpu", "--duration", "3s"))
	run, err := result.ParseRun(TerminationMessage(t, pod, "probe"))
	must(t, err)
	rate, ok := run.Series.Rate(run.Series.Span())
	if !ok {
		t.Fatalf("the probe on %s ran too short a time: %+v", node, run)
	}
	return rate
}

// CronJob makes a suspended CronJob of a pod.
func (c *Cluster) CronJob(t *testing.T, namespace, name string, spec corev1.PodSpec) {
	t.Helper()
	must(t, c.Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule: "0 0 1 1 *", Suspend: new(true),
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}}, Spec: spec,
			}}},
		},
	}))
}

// ProfileOf returns a profile that has the pods of an app measured on some nodes, as
// to their use of the CPU, in two rounds. The target is a CronJob of that name.
func ProfileOf(namespace, app string, nodes ...string) *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
			Measurement: &v1alpha1.Measurement{
				Target:    &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetCronJob, Name: app},
				Resources: []v1alpha1.ProbedResource{{Name: v1alpha1.ProbeCPU}},
				Nodes:     Named(nodes...),
				MaxRounds: new(int32(3)), // the interval of two is at times too wide for the result to be used
			},
		},
	}
}

// Named selects nodes by name.
func Named(nodes ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: corev1.LabelHostname, Operator: metav1.LabelSelectorOpIn, Values: nodes},
	}}
}

// MeasuredBy returns the profile's condition Measured, for the present spec; nil
// without one.
func MeasuredBy(profile *v1alpha1.WorkloadProfile) *metav1.Condition {
	c := meta.FindStatusCondition(profile.Status.Conditions, v1alpha1.ConditionMeasured)
	if c == nil || c.ObservedGeneration != profile.Generation {
		return nil
	}
	return c
}

// Stand tells how a measurement stands.
func Stand(profile *v1alpha1.WorkloadProfile) string {
	text := "no condition"
	if c := MeasuredBy(profile); c != nil {
		text = fmt.Sprintf("Measured is %s: %s: %s", c.Status, c.Reason, c.Message)
	}
	if m := profile.Status.Measuring; m != nil {
		text += fmt.Sprintf(" (round %d, step %s on %s, attempts in vain: %d)", *m.Round, m.Step, m.Node, *m.Attempts)
	}
	return text
}

// AwaitResult waits until a measurement has ended with a result, calling each after
// every look, and fails the test when it ends without.
func (c *Cluster) AwaitResult(t *testing.T, profile *v1alpha1.WorkloadProfile, each ...func()) {
	t.Helper()
	c.AwaitLong(t, "profile "+profile.Name+" is measured", LongPatience, profile, func() (bool, string) {
		for _, f := range each {
			f()
		}
		condition := MeasuredBy(profile)
		if condition != nil && profile.Status.Measuring == nil && condition.Status == metav1.ConditionFalse && profile.Status.Measurements == nil &&
			condition.Reason != v1alpha1.ReasonNoQuietNode && condition.Reason != v1alpha1.ReasonQueued && condition.Reason != v1alpha1.ReasonNoNode {
			t.Fatalf("the measurement of %s ended without a result: %s", profile.Name, Stand(profile))
		}
		return condition != nil && condition.Status == metav1.ConditionTrue && profile.Status.Measuring == nil, Stand(profile)
	})
	t.Log(Stand(profile))
}

// CheckMeasured fails the test unless the synthetic job's loading of the CPU was
// measured on a node, and is right within the tolerance.
func CheckMeasured(t *testing.T, profile *v1alpha1.WorkloadProfile, node string) {
	t.Helper()
	if n := len(profile.Status.Measurements); n != 1 {
		t.Fatalf("there are %d results, want 1: %+v", n, profile.Status.Measurements)
	}
	m := profile.Status.Measurements[0]
	if m.Node != node || len(m.Resources) != 1 {
		t.Errorf("%d resources were measured on %s, want 1 on %s", len(m.Resources), m.Node, node)
	}
	r := m.Resources[0]
	for what, q := range map[string]*resource.Quantity{"loading": r.Loading, "pressure": r.Pressure} {
		if got := q.AsApproximateFloat64(); math.Abs(got-trueCPU) > tolerance {
			t.Errorf("the %s is %.3f, want %g ± %g", what, got, trueCPU, tolerance)
		}
	}
}

// AwaitNothingLeft waits until no Job and no pod of a measurement is there any more.
// A kubelet lets a pod go when its volumes are gone from the node, so that the files
// of probes are gone, too.
func (c *Cluster) AwaitNothingLeft(t *testing.T, owner types.UID) {
	t.Helper()
	ofOwner := client.MatchingLabels{probejob.MeasurementKey: string(owner)}
	Until(t, "nothing is left of a measurement", Patience, func(ctx context.Context) (bool, string, error) {
		var left []string
		var jobs batchv1.JobList
		if err := c.List(ctx, &jobs, ofOwner); err != nil {
			return false, "", err
		}
		for i := range jobs.Items {
			left = append(left, "Job "+jobs.Items[i].Name)
		}
		var pods corev1.PodList
		if err := c.List(ctx, &pods, ofOwner); err != nil {
			return false, "", err
		}
		for i := range pods.Items {
			left = append(left, fmt.Sprintf("pod %s on %s", pods.Items[i].Name, pods.Items[i].Spec.NodeName))
		}
		return len(left) == 0, fmt.Sprintf("left behind: %v", left), nil
	})
}
