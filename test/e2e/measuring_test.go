//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/probe/report"
)

// tolerance is how far a measured loading may be from what is known of the pod.
// Machines that run such tests are noisy; how precise a measurement is at best is
// another question, which "make demo-nodes" answers.
const tolerance = 0.1

// The synthetic job that is measured: half of its time it computes.
const (
	burst      = 20 * time.Millisecond // of computing, and of idling
	trueCPU    = 0.5
	perRound   = 2 * burst
	endlessly  = 80_000 // rounds
	shortWhile = 4 * time.Second
)

// halfBusy returns the pod of a synthetic job that computes half of its time, for
// so many rounds. Its work is the same in every run: how fast the node is was
// found out beforehand.
func halfBusy(unitsPerSecond float64, rounds int) corev1.PodSpec {
	return probeSpec("load", "--demand", "cpu="+burst.String(), "--idle", burst.String(), "--rounds", strconv.Itoa(rounds),
		"--units-per-second", fmt.Sprintf("cpu=%g", unitsPerSecond))
}

// speed returns how fast a node computes for one who is alone there, in units of the
// standard job.
func speed(t *testing.T, namespace, node string) float64 {
	t.Helper()
	pod := runPod(t, probePod(namespace, "speed-"+node, node, "run", "--job", "cpu", "--duration", "3s"))
	run, err := report.ParseRun(terminationMessage(t, pod, "probe"))
	must(t, err)
	rate, ok := run.Series.Rate(run.Series.Span())
	if !ok {
		t.Fatalf("the probe on %s ran too short a time: %+v", node, run)
	}
	return rate
}

// cronJob makes a suspended CronJob of a pod.
func cronJob(t *testing.T, namespace, name string, spec corev1.PodSpec) {
	t.Helper()
	must(t, cluster.Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule: "0 0 1 1 *", Suspend: new(true),
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}}, Spec: spec,
			}}},
		},
	}))
}

// profileOf returns a profile that has the pods of an app measured on some nodes, as
// to their use of the CPU, in two rounds. The target is a CronJob of that name.
func profileOf(namespace, app string, nodes ...string) *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
			Measurement: &v1alpha1.Measurement{
				Target:    &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetCronJob, Name: app},
				Resources: []v1alpha1.ProbedResource{{Name: v1alpha1.ProbeCPU}},
				Nodes:     named(nodes...),
				MaxRounds: new(int32(2)),
			},
		},
	}
}

// named selects nodes by name.
func named(nodes ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: corev1.LabelHostname, Operator: metav1.LabelSelectorOpIn, Values: nodes},
	}}
}

// measuredBy returns the profile's condition Measured, for the present spec; nil
// without one.
func measuredBy(profile *v1alpha1.WorkloadProfile) *metav1.Condition {
	c := meta.FindStatusCondition(profile.Status.Conditions, v1alpha1.ConditionMeasured)
	if c == nil || c.ObservedGeneration != profile.Generation {
		return nil
	}
	return c
}

// stand tells how a measurement stands.
func stand(profile *v1alpha1.WorkloadProfile) string {
	text := "no condition"
	if c := measuredBy(profile); c != nil {
		text = fmt.Sprintf("Measured is %s: %s: %s", c.Status, c.Reason, c.Message)
	}
	if m := profile.Status.Measuring; m != nil {
		text += fmt.Sprintf(" (round %d, step %s on %s, attempts in vain: %d)", *m.Round, m.Step, m.Node, *m.Attempts)
	}
	return text
}

// awaitResult waits until a measurement has ended with a result, calling each after
// every look, and fails the test when it ends without.
func awaitResult(t *testing.T, profile *v1alpha1.WorkloadProfile, each ...func()) {
	t.Helper()
	awaitLong(t, "profile "+profile.Name+" is measured", longPatience, profile, func() (bool, string) {
		for _, f := range each {
			f()
		}
		c := measuredBy(profile)
		if c != nil && profile.Status.Measuring == nil && c.Status == metav1.ConditionFalse && profile.Status.Measurements == nil &&
			c.Reason != v1alpha1.ReasonNoQuietNode && c.Reason != v1alpha1.ReasonQueued && c.Reason != v1alpha1.ReasonNoNode {
			t.Fatalf("the measurement of %s ended without a result: %s", profile.Name, stand(profile))
		}
		return c != nil && c.Status == metav1.ConditionTrue && profile.Status.Measuring == nil, stand(profile)
	})
	t.Log(stand(profile))
}

// awaitRefusal waits until a measurement has ended for a reason, which a message
// explains that contains all of some texts.
func awaitRefusal(t *testing.T, profile *v1alpha1.WorkloadProfile, reason string, texts ...string) {
	t.Helper()
	awaitLong(t, fmt.Sprintf("profile %s says %s", profile.Name, reason), longPatience, profile, func() (bool, string) {
		c := measuredBy(profile)
		return c != nil && c.Reason == reason && profile.Status.Measuring == nil, stand(profile)
	})
	t.Log(stand(profile))
	c := measuredBy(profile)
	if c.Status != metav1.ConditionFalse || len(profile.Status.Measurements) > 0 {
		t.Errorf("there is a result: %s: %+v", c.Status, profile.Status.Measurements)
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			t.Errorf("the message lacks %q: %s", text, c.Message)
		}
	}
}

// awaitNothingLeft waits until no Job and no pod of a measurement is there any more.
// A kubelet lets a pod go when its volumes are gone from the node, so that the files
// of probes are gone, too.
func awaitNothingLeft(t *testing.T, owner types.UID) {
	t.Helper()
	var left []string
	ofOwner := client.MatchingLabels{probejob.MeasurementKey: string(owner)}
	err := wait.PollUntilContextTimeout(t.Context(), 500*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		left = nil
		var jobs batchv1.JobList
		if err := cluster.List(ctx, &jobs, ofOwner); err != nil {
			return false, err
		}
		for i := range jobs.Items {
			left = append(left, "Job "+jobs.Items[i].Name)
		}
		var pods corev1.PodList
		if err := cluster.List(ctx, &pods, ofOwner); err != nil {
			return false, err
		}
		for i := range pods.Items {
			left = append(left, fmt.Sprintf("pod %s on %s", pods.Items[i].Name, pods.Items[i].Spec.NodeName))
		}
		return len(left) == 0, nil
	})
	if err != nil {
		t.Fatalf("left behind: %v", left)
	}
}
